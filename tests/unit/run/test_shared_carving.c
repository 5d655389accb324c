// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/file.h"
#include "base/folder.h"
#include "harness/short_setup.h"
#include "run/carving.h"
#include "run/run_metadata.h"
#include "run/shared_carving.h"
#include "store/row.h"

static struct short_setup run;
static struct store *other; // Of another run over the same setup.
static char shared[SCRATCH_PATH];

static void begin(void)
{
    short_setup_open(&run);
    (void)snprintf(shared, sizeof(shared), "%s", scratch_path(&run.scratch, "shared"));
    run.config.shared = shared;
    SHORT_MUST(store_open(scratch_path(&run.scratch, "other.tapmlrun"), 1, &other));
}

static void end(void)
{
    store_close(other);
    short_setup_close(&run);
}

TestSuite(shared_carving, .init = begin, .fini = end);

// What the source has to do for it is told by `carve`.
static void share(struct store *store)
{
    SHORT_MUST(run_metadata_settle(store, &run.config, &run.setup, &run.prompts));
    SHORT_MUST(shared_carving_run(&run.config, &run.setup, store, &run.prompts, NULL));
}

// A text of `sql`, such as a sum that two stores have in common, into `out`.
static const char *ask(struct store *store, const char *sql, char out[SCRATCH_PATH])
{
    struct row row;
    int has = 0;

    SHORT_MUST(row_begin(store, sql, "asking", &row));
    SHORT_MUST(row_next(&row, &has));
    cr_assert(has);
    (void)snprintf(out, SCRATCH_PATH, "%s", row_text(&row, 0));
    row_end(&row);
    return out;
}

static void expect_same(const char *sql)
{
    char a[SCRATCH_PATH], b[SCRATCH_PATH];

    cr_expect_str_eq(ask(run.store, sql, a), ask(other, sql, b), "%s", sql);
}

static size_t count_folders(void)
{
    struct folder_names names;

    SHORT_MUST(folder_list(shared, &names));
    const size_t count = names.count;

    folder_release(&names);
    return count;
}

Test(shared_carving, one_carves_and_both_have_the_cases)
{
    share(run.store);
    share(other);
    expect_same(
        "SELECT group_concat(hex(key)) FROM (SELECT key FROM \"case\" ORDER BY id LIMIT 40)");
    expect_same("SELECT count(*) || ' ' || sum(kept) FROM call");
    expect_same("SELECT group_concat(hash || hex(greedy) || position || run) FROM prompt");
    expect_same("SELECT count(*) FROM tensor");
    cr_expect_eq(count_folders(), 1u);
}

Test(shared_carving, a_run_with_other_prompts_has_its_own)
{
    share(run.store);
    run.config.decode++;
    share(other);
    cr_expect_eq(count_folders(), 2u);
}

// As after a carver that was killed: its first prompt alone was there.
Test(shared_carving, what_is_missing_is_carved_and_shared)
{
    const size_t all = run.prompts.count;
    char count[SCRATCH_PATH];

    cr_assert_gt(all, 1u);
    SHORT_MUST(run_metadata_settle(other, &run.config, &run.setup, &run.prompts));
    run.prompts.count = 1;
    SHORT_MUST(shared_carving_run(&run.config, &run.setup, other, &run.prompts, NULL));
    run.prompts.count = all;
    share(run.store);
    cr_expect_neq(*ask(run.store, "SELECT count(DISTINCT run) FROM prompt", count), '1');
    share(other);
    expect_same("SELECT group_concat(hash || hex(greedy) || run) FROM (SELECT * FROM prompt ORDER "
                "BY position)");
    expect_same("SELECT count(*) FROM \"case\"");
}

Test(shared_carving, what_is_damaged_is_carved_again_and_shared)
{
    struct folder_names names;
    char path[2 * SCRATCH_PATH];

    share(run.store);
    SHORT_MUST(folder_list(shared, &names));
    cr_assert_eq(names.count, 1u);
    (void)snprintf(path, sizeof(path), "%s/run.tapmlrun", names.items[0]);
    FILE *file = fopen(path, "wb");

    cr_assert_not_null(file);
    cr_assert_gt(fprintf(file, "this is no store"), 0);
    cr_assert_eq(fclose(file), 0);
    folder_release(&names);
    share(other);
    expect_same("SELECT count(*) FROM \"case\"");
    store_close(run.store);
    SHORT_MUST(store_open(scratch_path(&run.scratch, "third.tapmlrun"), 1, &run.store));
    share(run.store);
    expect_same("SELECT min(run) FROM prompt");
}

Test(shared_carving, weights_with_other_bytes_are_found)
{
    struct store *store = NULL;
    struct folder_names names;
    char path[2 * SCRATCH_PATH], runs[SCRATCH_PATH];

    share(run.store);
    SHORT_MUST(folder_list(shared, &names));
    (void)snprintf(path, sizeof(path), "%s/run.tapmlrun", names.items[0]);
    folder_release(&names);
    SHORT_MUST(store_open(path, 0, &store));
    struct row row;

    SHORT_MUST(row_begin(store, "UPDATE weight SET key = zeroblob(16)", "spoiling", &row));
    SHORT_MUST(row_run(&row));
    store_close(store);
    share(other);
    expect_same("SELECT count(*) FROM \"case\"");
    cr_expect_str_neq(ask(run.store, "SELECT min(run) FROM prompt", path),
                      ask(other, "SELECT min(run) FROM prompt", runs));
}
