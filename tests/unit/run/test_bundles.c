// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/file.h"
#include "harness/command.h"
#include "harness/short_run.h"

static const char FAULT[] =
    "[fault.1]\ntarget = other\nop = silu\ninstance = layers.1/*\nkind = scale 2\n";

static char *copy_path(struct scratch *scratch, const char *name)
{
    char *path = strdup(scratch_path(scratch, name));

    cr_assert_not_null(path);
    return path;
}

Test(bundles, an_blamed_op_is_a_file_that_reproduces_it, .timeout = 110)
{
    struct scratch scratch;

    scratch_make(&scratch);
    char *ini = strdup(short_run_write(&scratch, FAULT));
    char *path = copy_path(&scratch, "run/FAULT-1.tapmlrun");
    struct printed printed = PRINTED(command_run_main, "--config", ini);

    cr_assert_eq(printed.outcome, OUTCOME_WRONG, "%s%s", printed.out, printed.err);
    cr_assert_not_null(strstr(printed.out, "bundle: layers.1/mlp/silu (tapml.silu) x=[1,1]: "));
    cr_assert_not_null(strstr(printed.out, " --target other\n"));
    cr_assert(file_exists(path));
    cr_assert(!file_exists(scratch_path(&scratch, "run/FAULT-2.tapmlrun")));
    printed_release(&printed);

    printed = PRINTED(command_replay_main, path, "--config", ini, "--target", "other");
    cr_assert_eq(printed.outcome, OUTCOME_WRONG, "%s%s", printed.out, printed.err);
    cr_assert_not_null(strstr(printed.out, "bundle of layers.1/mlp/silu\n  op      tapml.silu, "));
    cr_assert_not_null(strstr(printed.out, "    y[0, 0] expected "));
    cr_assert_not_null(
        strstr(printed.out, "    1 of 1 elements are beyond the limit by themselves\n"));
    printed_release(&printed);

    printed = PRINTED(command_replay_main, path, "--backend", "reference:f64", "--repeat", "3");
    cr_assert_eq(printed.outcome, OUTCOME_OK, "%s%s", printed.out, printed.err);
    cr_assert_not_null(strstr(printed.out, "bundle of layers.1/mlp/silu\n"));
    cr_assert_null(strstr(printed.out, " elements are beyond"));
    printed_release(&printed);
    free(path);
    free(ini);
    scratch_remove(&scratch);
}

Test(bundles, those_of_an_earlier_start_go, .timeout = 110)
{
    struct scratch scratch;

    scratch_make(&scratch);
    char *ini = strdup(short_run_write(&scratch, ""));
    char *path = copy_path(&scratch, "run/FAULT-1.tapmlrun");

    cr_assert_eq(file_make_folder(scratch_path(&scratch, "run")), TAPML_OK);
    scratch_text(&scratch, "run/FAULT-1.tapmlrun", "x");
    scratch_text(&scratch, "run/FAULT-2.tapmlrun", "x");
    scratch_text(&scratch, "run/FAULT-2.c", "of a driver that was wrong");
    struct printed printed = PRINTED(command_run_main, "--config", ini);

    cr_assert_eq(printed.outcome, OUTCOME_OK, "%s%s", printed.out, printed.err);
    cr_assert(!file_exists(path));
    cr_assert(!file_exists(scratch_path(&scratch, "run/FAULT-2.tapmlrun")));
    cr_assert(!file_exists(scratch_path(&scratch, "run/FAULT-2.c")));
    cr_assert_null(strstr(printed.out, "bundle"));
    printed_release(&printed);
    free(path);
    free(ini);
    scratch_remove(&scratch);
}
