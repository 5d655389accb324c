// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"
#include "base/file.h"
#include "harness/short_setup.h"
#include "run/carving.h"
#include "run/run_metadata.h"
#include "run/source_shares.h"
#include "store/row.h"

enum { SHARES = 2 };

static struct short_setup run;
static struct arena *arena;
static const char *folder; // Of the run.

// Prompts of 1 to 7 ids, with larger values in later ones; the last is that of the third line.
static void write_prompts(void)
{
    static const char text[] = "ids: 3\nids: 1 5 7 9\nids: 12 40\nids: 2 8 7 9 9 1 5\n"
                               "ids: 6 2\nids: 9 9 8\nids: 12 40\n";
    char copy[sizeof(text)];

    memcpy(copy, text, sizeof(text));
    prompts_release(&run.prompts);
    SHORT_MUST(
        prompts_parse("p", copy, sizeof(text) - 1, &(struct prompts_options){0}, &run.prompts));
}

static void begin(void)
{
    short_setup_open(&run);
    arena = arena_create();
    cr_assert_not_null(arena);
    folder = arena_text(arena, scratch_path(&run.scratch, "run"));
    SHORT_MUST(file_make_folder(folder));
    write_prompts();
    SHORT_MUST(run_metadata_settle(run.store, &run.config, &run.setup, &run.prompts));
}

static void end(void)
{
    arena_destroy(arena);
    short_setup_close(&run);
}

TestSuite(source_shares, .init = begin, .fini = end);

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

// The folder of a share has what it has carved.
static void carve_share(const uint32_t *of, uint32_t index)
{
    const struct carving_share share = {.of = of, .index = index, .count = SHARES};
    const char *own = source_shares_folder(folder, index, SHARES, arena);
    struct store *store = NULL;

    cr_assert_not_null(own);
    SHORT_MUST(file_make_folder(own));
    SHORT_MUST(store_open(arena_format(arena, "%s/run.tapmlrun", own), 1, &store));
    SHORT_MUST(run_metadata_settle(store, &run.config, &run.setup, &run.prompts));
    SHORT_MUST(carving_run_share(&run.config, &run.setup, store, &run.prompts, &share));
    store_close(store);
}

static const uint32_t *split(void)
{
    uint32_t *of = NULL;

    SHORT_MUST(source_shares_split(&run.prompts, run.config.decode, SHARES, arena, &of));
    return of;
}

Test(source_shares, tokens_are_split_and_equal_prompts_stay_together)
{
    const uint32_t *of = split();
    size_t tokens[SHARES] = {0};

    cr_assert(run.prompts.items[6].is_repeated && !run.prompts.items[2].is_repeated);
    cr_expect_eq(of[2], of[6]);
    for (size_t i = 0; i < run.prompts.count; i++) {
        cr_assert_lt(of[i], SHARES);
        tokens[of[i]] += run.prompts.items[i].count + (size_t)run.config.decode;
    }
    cr_expect_gt(3 * tokens[0], 2 * tokens[1]);
    cr_expect_gt(3 * tokens[1], 2 * tokens[0]);
}

Test(source_shares, what_is_taken_is_what_one_process_keeps)
{
    static const char kept[] = "SELECT sum(id IS NOT NULL) FROM call WHERE kept";
    static const char cases[] = "SELECT count(*) FROM \"case\"";
    static const char calls[] = "SELECT count(*) FROM statistic";
    const uint32_t *of = split();
    struct source_shares_counts counts;
    struct store *alone = NULL;

    SHORT_MUST(store_open(scratch_path(&run.scratch, "alone.tapmlrun"), 1, &alone));
    SHORT_MUST(carving_run(&run.config, &run.setup, alone, &run.prompts, NULL));
    carve_share(of, 1);
    carve_share(of, 0);
    SHORT_MUST(source_shares_take(folder, run.store, 0, &counts));
    cr_expect_eq(counts.prompts, 6);
    cr_expect_eq(counts.cases, number_of(alone, cases));
    cr_expect_gt(counts.candidates, counts.cases);
    cr_expect_eq(number_of(run.store, cases), counts.cases);
    cr_expect_eq(number_of(run.store, kept), number_of(alone, kept));
    cr_expect_eq(number_of(run.store, calls), number_of(alone, calls));
    cr_expect_not(file_exists(source_shares_folder(folder, 0, SHARES, arena)));
    SHORT_MUST(source_shares_take(folder, run.store, 0, &counts));
    cr_expect_eq(counts.calls, 0, "there is nothing left");
    store_close(alone);
}

// A process was killed as it made its store.
Test(source_shares, a_store_that_has_only_begun_is_left_out)
{
    const char *own = source_shares_folder(folder, 0, SHARES, arena);
    struct source_shares_counts counts;

    SHORT_MUST(file_make_folder(own));
    SHORT_MUST(file_write(arena_format(arena, "%s/run.tapmlrun", own), "SQLite", 6));
    carve_share(split(), 1);
    SHORT_MUST(source_shares_take(folder, run.store, 0, &counts));
    cr_expect_gt(counts.prompts, 0);
    cr_expect_not(file_exists(own));
}

Test(source_shares, folders_of_others_stay)
{
    const char *other = arena_format(arena, "%s/source-of-all", folder);
    struct source_shares_counts counts;

    SHORT_MUST(file_make_folder(other));
    SHORT_MUST(file_make_folder(source_shares_folder(folder, 1, SHARES, arena)));
    SHORT_MUST(source_shares_take(folder, run.store, 0, &counts));
    cr_expect_eq(counts.prompts, 0);
    cr_expect(file_is_folder(other));
    cr_expect_not(file_exists(source_shares_folder(folder, 1, SHARES, arena)));
}
