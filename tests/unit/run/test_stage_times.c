// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/pool.h"
#include "exec/place.h"
#include "harness/open_store.h"
#include "run/stage_times.h"
#include "store/stage.h"

#include <criterion/criterion.h>
#include <string.h>

static struct stages stages;
static struct stage_row *rows;
static size_t count;

TestSuite(stage_times, .init = open_store_begin, .fini = open_store_end);

static const struct place_settings target = {
    .name = "gpu", .isolation = {.mode = PLACE_ISOLATION_ALWAYS}, .budget_mib = 2};

static void keep(const char *phase, enum stages_kind kind, uint64_t cases)
{
    (void)stages_begin(&stages);
    stages_phase(phase);
    stages_return(stages_enter(kind), 5);
    stages_add("cases", (struct stages_count){.visits = cases});
    stages_leave(NULL);
}

static const struct stage_row *find(const char *phase, const char *stage)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(rows[i].phase, phase) == 0 && strcmp(rows[i].stage, stage) == 0) {
            return &rows[i];
        }
    }
    return NULL;
}

static void read_rows(const char *name)
{
    MUST(stage_list(store, name, arena, &rows, &count));
}

Test(stage_times, an_account_becomes_rows_with_what_explains_them)
{
    keep("replay on gpu", STAGES_READ, 3);
    MUST(stage_times_write(store, &target, &stages));
    read_rows("gpu");
    cr_assert_not_null(find("replay", "read"));
    cr_expect_eq(find("replay", "read")->visits, 1u);
    cr_expect_eq(find("replay", "read")->bytes, 5u);
    cr_expect_eq(find(STAGE_PIPELINE, "cases")->visits, 3u);
    cr_expect_eq(find(STAGE_PIPELINE, "isolated")->visits, 1u);
    cr_expect_eq(find(STAGE_PIPELINE, "budget")->bytes, 2u << 20);
}

Test(stage_times, a_start_that_replays_nothing_leaves_the_rows)
{
    keep("replay on gpu", STAGES_READ, 3);
    MUST(stage_times_write(store, &target, &stages));
    keep("replay on gpu", STAGES_RECORD, 0);
    MUST(stage_times_write(store, &target, &stages));
    read_rows("gpu");
    cr_expect_not_null(find("replay", "read"));
    cr_expect_null(find("replay", "record"));
}

Test(stage_times, the_run_has_the_account_of_the_start_that_carved)
{
    struct pool *pool = NULL;
    MUST(pool_create(1, &pool));
    keep("carve", STAGES_SOURCE, 0);
    MUST(stage_times_write_run(store, &stages, pool, 0));
    keep("open", STAGES_READ, 0);
    MUST(stage_times_write_run(store, &stages, pool, 0));
    read_rows(STAGE_RUN);
    cr_expect_not_null(find("carve", "source"));
    cr_expect_null(find("open", "read"));
    cr_expect_eq(find(STAGE_PIPELINE, "processors")->visits, 1u);
    cr_expect_gt(find(STAGE_PIPELINE, "store")->bytes, 0u);
    pool_destroy(pool);
}
