// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/file.h"
#include "harness/reported.h"

static struct scratch scratch;

static void setup(void)
{
    scratch_make(&scratch);
}

static void teardown(void)
{
    scratch_remove(&scratch);
}

TestSuite(command_pack, .init = setup, .fini = teardown, .timeout = 110);

static char where[] = "--where", out[] = "--out", some[] = "op = 'tapml.silu' AND step = 0";

Test(command_pack, writes_what_the_condition_chooses)
{
    char folder[2 * SCRATCH_PATH], path[2 * SCRATCH_PATH];

    json_decref(reported_run(&scratch, "", OUTCOME_OK));
    snprintf(folder, sizeof(folder), "%s", scratch_path(&scratch, "run"));
    snprintf(path, sizeof(path), "%s", scratch_path(&scratch, "pack.tapmlrun"));
    printed_expect(PRINTED(command_pack_main, folder, where, some, out, path), OUTCOME_OK,
                   "pack.tapmlrun: 4 cases\n");
    cr_assert(file_exists(path));
}

Test(command_pack, is_refused_with_a_sentence)
{
    char path[2 * SCRATCH_PATH];

    snprintf(path, sizeof(path), "%s", scratch_path(&scratch, "pack.tapmlrun"));
    struct printed printed = PRINTED(command_pack_main, scratch.folder, where, some);

    cr_assert_eq(printed.outcome, OUTCOME_USAGE);
    cr_assert_not_null(strstr(printed.err, "the folder of a run, --where and --out expected"));
    printed_release(&printed);
    printed = PRINTED(command_pack_main, scratch.folder, where, some, out, path);
    cr_assert_eq(printed.outcome, OUTCOME_USAGE);
    cr_assert_not_null(strstr(printed.err, "there is no run in '"));
    cr_assert_not(file_exists(path));
    printed_release(&printed);
}
