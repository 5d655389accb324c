// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A store with cases of silu and rms_norm that were judged on an exact target, as the last look
// left it.
#pragma once

#include "../verify/judged_store.h"
#include "base/arena.h"
#include "store/look.h"
#include "watch/turning.h"

static struct arena *arena;
static struct verdict_list watched_verdicts; // Of the last look, whose turning refers to it.

enum { WATCHED_STEPS = 10 };

// What a look writes when it has ended, with its id. The turning of the look before is released.
static inline int64_t watch_once(struct turning *out_turning)
{
    struct look_row row = {.cause = "", .fired = "", .everything = 2 * WATCHED_STEPS};

    *out_turning = (struct turning){.arena = arena};
    verdict_list_release(&watched_verdicts);
    MUST(verdict_read(store, "gpu", &watched_verdicts));
    MUST(turning_add(out_turning, store, "gpu", &watched_verdicts));
    row.worse = out_turning->worse;
    row.better = out_turning->better;
    MUST(store_begin(store));
    MUST(look_write(store, &row, &row.id));
    MUST(turning_write(out_turning, store, row.id));
    MUST(store_commit(store));
    return row.id;
}

static inline void watched_run_begin(void)
{
    struct turning turning;

    judged_store_begin();
    arena = arena_create();
    for (int i = 0; i < WATCHED_STEPS; i++) {
        add_silu("layers.0/s", i, 0);
        add_norm("layers.1/n", i, 0);
    }
    const struct verdict_options options = options_for(exact);
    struct verdict_list list = judge(&options);

    verdict_list_release(&list);
    (void)watch_once(&turning);
    cr_assert_eq(turning.worse + turning.better, 0);
    turning_release(&turning);
}

static inline void watched_run_end(void)
{
    verdict_list_release(&watched_verdicts);
    arena_destroy(arena);
    judged_store_end();
}

// As if the target had computed an op otherwise.
static inline void spoil(const char *op)
{
    char sql[512];

    (void)snprintf(sql, sizeof(sql),
                   "UPDATE output_error SET ulp = 1e9, nmse = 1, row_error = 10, is_equal = 0"
                   " WHERE case_id IN (SELECT id FROM \"case\" WHERE op = '%s')",
                   op);
    execute(sql);
}
