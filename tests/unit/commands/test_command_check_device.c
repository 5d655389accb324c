// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/command.h"
#include "harness/short_run.h"

Test(command_check_device, a_right_device_passes_each_check)
{
    struct printed printed =
        PRINTED(command_check_device_main, "reference:f64", "--isolation", "never");

    cr_assert_eq(printed.outcome, OUTCOME_OK, "%s%s", printed.out, printed.err);
    cr_expect_not_null(strstr(printed.out, "reference:f64 ("), "%s", printed.out);
    cr_expect_not_null(strstr(printed.out, "\nfill       pass "), "%s", printed.out);
    cr_expect_not_null(strstr(printed.out, "the driver passed: "), "%s", printed.out);
    cr_expect_null(strstr(printed.out, "FAIL"), "%s", printed.out);
    printed_release(&printed);
}

Test(command_check_device, one_check_is_made_alone)
{
    struct printed printed = PRINTED(command_check_device_main, "null", "--check", "wrap",
                                     "--isolation", "never", "--repeat", "2");

    cr_assert_eq(printed.outcome, OUTCOME_OK, "%s%s", printed.out, printed.err);
    cr_expect_not_null(strstr(printed.out, "\nwrap       pass "), "%s", printed.out);
    cr_expect_null(strstr(printed.out, "fill"), "%s", printed.out);
    printed_release(&printed);
}

// A target of a run has the faults that are injected there. Behind a worker the host itself fills
// the memory of a device that has ordinary one, and there is no driver to be wrong.
Test(command_check_device, a_target_of_a_run_is_tested_with_its_faults)
{
    struct scratch scratch;

    scratch_make(&scratch);
    char *ini = (char *)(uintptr_t)short_run_write(&scratch,
                                                   "[fault.1]\ntarget = other\nkind = fill-tail\n");
    struct printed printed = PRINTED(command_check_device_main, "--config", ini, "--target",
                                     "other", "--isolation", "never");

    cr_expect_eq(printed.outcome, OUTCOME_WRONG, "%s%s", printed.out, printed.err);
    cr_expect_not_null(strstr(printed.out, "\nfill       FAIL "), "%s", printed.out);
    cr_expect_not_null(strstr(printed.out, "after a fill of 4 bytes at 0"), "%s", printed.out);
    cr_expect_not_null(strstr(printed.out, "the driver is wrong"), "%s", printed.out);
    printed_release(&printed);
    printed = PRINTED(command_check_device_main, "--config", ini, "--target", "nothing");
    cr_expect_eq(printed.outcome, OUTCOME_USAGE);
    cr_expect_not_null(strstr(printed.err, "has no section [target.nothing]"), "%s", printed.err);
    printed_release(&printed);
    scratch_remove(&scratch);
}

// The file repeats the failure where the driver is wrong, and passes where it is right.
Test(command_check_device, what_fails_is_a_bundle)
{
    struct scratch scratch;

    scratch_make(&scratch);
    char *ini = strdup(short_run_write(
        &scratch, "isolation = never\n[fault.1]\ntarget = other\nkind = fill-tail\n"));
    char *bundle = strdup(scratch_path(&scratch, "wrong.tapmlrun"));
    struct printed printed = PRINTED(command_check_device_main, "--config", ini, "--target",
                                     "other", "--seed", "5", "--bundle", bundle);

    cr_assert_eq(printed.outcome, OUTCOME_WRONG, "%s%s", printed.out, printed.err);
    cr_expect_not_null(strstr(printed.out, "\nbundle: "), "%s", printed.out);
    printed_release(&printed);
    printed = PRINTED(command_replay_main, bundle, "--config", ini, "--target", "other");
    cr_expect_eq(printed.outcome, OUTCOME_WRONG, "%s%s", printed.out, printed.err);
    cr_expect_not_null(strstr(printed.out, "\nfill       FAIL "), "%s", printed.out);
    printed_release(&printed);
    printed = PRINTED(command_replay_main, bundle, "--backend", "reference:f32");
    cr_expect_eq(printed.outcome, OUTCOME_OK, "%s%s", printed.out, printed.err);
    cr_expect_not_null(strstr(printed.out, ", seed 5\n"), "%s", printed.out);
    cr_expect_not_null(strstr(printed.out, "\nfill       pass "), "%s", printed.out);
    cr_expect_not_null(strstr(printed.out, "bundle of driver\n  check   fill\n"), "%s",
                       printed.out);
    cr_expect_not_null(strstr(printed.out, "  failed  other = reference:f64 ("), "%s", printed.out);
    printed_release(&printed);
    printed = PRINTED(command_replay_main, bundle, "--backend", "reference", "--case", "1");
    cr_expect_eq(printed.outcome, OUTCOME_USAGE);
    cr_expect_not_null(strstr(printed.err, "--case is for cases"), "%s", printed.err);
    printed_release(&printed);
    free(bundle);
    free(ini);
    scratch_remove(&scratch);
}

Test(command_check_device, what_is_asked_for_is_checked)
{
    struct printed printed = PRINTED(command_check_device_main, "null", "--check", "fil");

    cr_expect_eq(printed.outcome, OUTCOME_USAGE);
    cr_expect_not_null(strstr(printed.err, "there is no check 'fil', did you mean 'fill'?"), "%s",
                       printed.err);
    printed_release(&printed);
    printed = PRINTED(command_check_device_main, "--check", "fill");
    cr_expect_eq(printed.outcome, OUTCOME_USAGE);
    cr_expect_not_null(strstr(printed.err, "one backend expected, 0 given"), "%s", printed.err);
    printed_release(&printed);
}
