// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/command.h"
#include "harness/scratch.h"
#include "store/metadata.h"
#include "store/store.h"
#include "store/store_open.h"
#include "store/stored_case.h"

static struct scratch scratch;
static char one[2 * SCRATCH_PATH], other[2 * SCRATCH_PATH], into[2 * SCRATCH_PATH];

// A store with one case, whose instance is `instance`.
static void write_store(const char *folder, const char *instance, const char *source)
{
    struct store *store = NULL;
    char path[3 * SCRATCH_PATH];

    cr_assert_eq(mkdir(folder, 0777), 0);
    snprintf(path, sizeof(path), "%s/run.tapmlrun", folder);
    cr_assert_eq(store_open(path, 1, &store), TAPML_OK);
    cr_assert_eq(metadata_set(store, "source", source), TAPML_OK);
    cr_assert_eq(stored_case_add(store, &(struct carved_case){.instance = instance,
                                                              .op_name = "tapml.silu",
                                                              .op_version = 1,
                                                              .phase = "prefill",
                                                              .shape_class = "x=[1]"}),
                 TAPML_OK, "%s", status_message());
    store_close(store);
}

static void setup(void)
{
    scratch_make(&scratch);
    snprintf(one, sizeof(one), "%s/one", scratch.folder);
    snprintf(other, sizeof(other), "%s/other", scratch.folder);
    snprintf(into, sizeof(into), "%s/into", scratch.folder);
}

static void teardown(void)
{
    scratch_remove(&scratch);
}

TestSuite(command_store, .init = setup, .fini = teardown);

static void expect(enum outcome outcome, const char *text, struct printed printed)
{
    cr_expect_eq(printed.outcome, outcome, "%s%s", printed.out, printed.err);
    cr_expect(strstr(printed.out, text) || strstr(printed.err, text), "%s%s", printed.out,
              printed.err);
    printed_release(&printed);
}

Test(command_store, merges_folders_into_another_one)
{
    write_store(one, "a", "here");
    write_store(other, "b", "here");
    expect(OUTCOME_OK, "0 prompts, 0 calls, 1 cases, 0 results",
           PRINTED(command_store_main, "merge", one, other, "--into", into));
    expect(OUTCOME_OK, "0 prompts, 0 calls, 0 cases, 0 results",
           PRINTED(command_store_main, "merge", one, "--into", into));
    expect(OUTCOME_USAGE, "no run 'none'", PRINTED(command_store_main, "remove", "none", into));
}

Test(command_store, what_differs_is_printed_and_ends_with_1)
{
    write_store(one, "a", "here");
    write_store(other, "a", "here");
    char path[3 * SCRATCH_PATH];
    struct store *store = NULL;
    snprintf(path, sizeof(path), "%s/run.tapmlrun", other);
    cr_assert_eq(store_open(path, 0, &store), TAPML_OK);
    cr_assert_eq(
        sqlite3_exec(store_connection(store), "UPDATE \"case\" SET key = x'01'", NULL, NULL, NULL),
        SQLITE_OK);
    store_close(store);
    expect(OUTCOME_WRONG, "case of a, prompt",
           PRINTED(command_store_main, "merge", one, other, "--into", into));
}

Test(command_store, stores_of_other_runs_are_refused)
{
    write_store(one, "a", "here");
    write_store(other, "a", "there");
    expect(OUTCOME_USAGE, "are of different runs: source is here and there",
           PRINTED(command_store_main, "merge", one, other, "--into", into));
}

Test(command_store, usage)
{
    expect(OUTCOME_OK, "usage: tapml-host store merge", PRINTED(command_store_main, "--help"));
    expect(OUTCOME_USAGE, "see --help", PRINTED(command_store_main, "merge", one));
    expect(OUTCOME_USAGE, "see --help", PRINTED(command_store_main, "remove", one));
    expect(OUTCOME_USAGE, "see --help", PRINTED(command_store_main, "--into", one));
    expect(OUTCOME_USAGE, "there is no store",
           PRINTED(command_store_main, "merge", one, "--into", into));
    cr_expect_neq(access(into, F_OK), 0, "a refusal leaves nothing behind");
}
