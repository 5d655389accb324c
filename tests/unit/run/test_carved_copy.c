// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"
#include "base/file.h"
#include "harness/short_setup.h"
#include "run/carved_copy.h"
#include "run/carving.h"
#include "run/run_metadata.h"
#include "store/metadata.h"
#include "store/prompt.h"
#include "store/row.h"

static struct short_setup run;
static struct arena *arena;
static struct hash *prompts;
static size_t count;

static void begin(void)
{
    short_setup_open(&run);
    arena = arena_create();
    SHORT_MUST(run_metadata_settle(run.store, &run.config, &run.setup, &run.prompts));
    SHORT_MUST(carving_run(&run.config, &run.setup, run.store, &run.prompts, NULL));
    SHORT_MUST(prompt_list_carved(run.store, arena, &prompts, &count));
    cr_assert_gt(count, 1u);
}

static void end(void)
{
    arena_destroy(arena);
    short_setup_close(&run);
}

TestSuite(carved_copy, .init = begin, .fini = end);

static int64_t number_of(struct store *store, const char *sql)
{
    struct row row;
    int has = 0;

    SHORT_MUST(row_begin(store, sql, "asking", &row));
    SHORT_MUST(row_next(&row, &has));
    cr_assert(has);
    const int64_t number = row_i64(&row, 0);

    row_end(&row);
    return number;
}

Test(carved_copy, the_key_is_of_all_that_decides)
{
    char key[HASH_TEXT], again[HASH_TEXT], other[HASH_TEXT];

    SHORT_MUST(carved_copy_settle_key(run.store, &run.config, key));
    SHORT_MUST(carved_copy_settle_key(run.store, &run.config, again));
    cr_expect_str_eq(key, again);
    cr_expect_str_eq(metadata_get(run.store, CARVED_COPY_KEY), key);
    run.config.plain_inputs = !run.config.plain_inputs;
    SHORT_MUST(carved_copy_settle_key(run.store, &run.config, other));
    cr_expect_str_neq(key, other);
    cr_expect_str_eq(metadata_get(run.store, CARVED_COPY_KEY), other);
    SHORT_MUST(metadata_note(run.store, "decode", "77"));
    SHORT_MUST(carved_copy_settle_key(run.store, &run.config, again));
    cr_expect_str_neq(again, other);
    run.config.groups[0] = (struct group_rule){.name = "norms", .ops = "rms_norm linear"};
    run.config.group_count = 1;
    SHORT_MUST(carved_copy_settle_key(run.store, &run.config, other));
    cr_expect_str_neq(again, other);
}

Test(carved_copy, some_prompts_go_with_their_cases)
{
    const char *path = arena_text(arena, scratch_path(&run.scratch, "copy.tapmlrun"));
    static const char CASES_OF[] = "SELECT count(*) FROM \"case\" JOIN prompt ON hash = prompt"
                                   " WHERE position = 1";
    struct store *copy = NULL;

    SHORT_MUST(carved_copy_write(run.store, prompts + 1, 1, path));
    SHORT_MUST(store_open_to_read(path, &copy));
    cr_expect_eq(number_of(copy, "SELECT count(*) FROM prompt"), 1);
    cr_expect_gt(number_of(copy, "SELECT count(*) FROM \"case\""), 0);
    cr_expect_eq(number_of(copy, "SELECT count(*) FROM \"case\""), number_of(run.store, CASES_OF));
    cr_expect_lt(number_of(copy, "SELECT count(*) FROM call"),
                 number_of(run.store, "SELECT count(*) FROM call"));
    store_close(copy);
    cr_expect_not(file_exists(arena_format(arena, "%s-wal", path)));
}

Test(carved_copy, a_copy_takes_the_place_of_an_earlier_one)
{
    const char *path = arena_text(arena, scratch_path(&run.scratch, "copy.tapmlrun"));
    struct store *copy = NULL;

    SHORT_MUST(carved_copy_write(run.store, prompts, 1, path));
    SHORT_MUST(carved_copy_write(run.store, NULL, 0, path));
    SHORT_MUST(store_open_to_read(path, &copy));
    cr_expect_eq(number_of(copy, "SELECT count(*) FROM prompt"), (int64_t)count);
    cr_expect_eq(number_of(copy, "SELECT count(*) FROM \"case\""),
                 number_of(run.store, "SELECT count(*) FROM \"case\""));
    store_close(copy);
    cr_expect_eq(carved_copy_write(run.store, NULL, 0, scratch_path(&run.scratch, "no/copy")),
                 TAPML_UNAVAILABLE);
}
