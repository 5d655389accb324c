// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/command.h"
#include "harness/short_run.h"

Test(command_run, moves_everything_and_writes_a_plan)
{
    struct scratch scratch;

    scratch_make(&scratch);
    char *ini = (char *)(uintptr_t)short_run_write(&scratch, "");
    struct printed printed = PRINTED(command_run_main, "--config", ini);

    cr_assert_eq(printed.outcome, OUTCOME_OK, "%s%s", printed.out, printed.err);
    cr_assert_not_null(strstr(printed.out, "0 blamed, 0 unsupported, 0 left on the source"));
    cr_assert_eq(access(scratch_path(&scratch, "run/plan-other.txt"), R_OK), 0);
    cr_assert_eq(access(scratch_path(&scratch, "run/run.tapmlrun"), R_OK), 0);
    printed_release(&printed);
    scratch_remove(&scratch);
}

Test(command_run, what_a_target_refuses_is_counted)
{
    struct scratch scratch;

    scratch_make(&scratch);
    char *ini = (char *)(uintptr_t)short_run_write(&scratch, "[target.none]\nbackend = null\n");
    struct printed printed = PRINTED(command_run_main, "--config", ini);

    cr_assert_eq(printed.outcome, OUTCOME_OK, "%s%s", printed.out, printed.err);
    cr_assert_not_null(
        strstr(printed.out, "unsupported: layers.0/mlp/silu (tapml.silu) and 1 more: "));
    printed_release(&printed);
    scratch_remove(&scratch);
}

Test(command_run, what_must_not_be_refused_is_wrong)
{
    struct scratch scratch;

    scratch_make(&scratch);
    char *ini = (char *)(uintptr_t)short_run_write(
        &scratch, "[target.none]\nbackend = null\nrequire = all\n");
    struct printed printed = PRINTED(command_run_main, "--config", ini);

    cr_assert_eq(printed.outcome, OUTCOME_WRONG, "%s%s", printed.out, printed.err);
    printed_release(&printed);
    scratch_remove(&scratch);
}

Test(command_run, a_injected_fault_is_reported_and_named)
{
    struct scratch scratch;

    scratch_make(&scratch);
    char *ini = (char *)(uintptr_t)short_run_write(
        &scratch, "[fault.1]\ntarget = other\nop = silu\nkind = scale 2\n");
    struct printed printed = PRINTED(command_run_main, "--config", ini);

    cr_assert_eq(printed.outcome, OUTCOME_WRONG, "%s%s", printed.out, printed.err);
    cr_assert_not_null(strstr(printed.err, "injected on 'other': fault.1: scale 2, op=silu"));
    cr_assert_not_null(strstr(printed.out, "blamed: layers.0/mlp/silu (tapml.silu), the first"));
    cr_assert_not_null(strstr(printed.out, "38 of 40 instances on other, 2 blamed"));
    printed_release(&printed);
    scratch_remove(&scratch);
}

Test(command_run, a_fault_that_corrupts_nothing_is_refused)
{
    struct scratch scratch;

    scratch_make(&scratch);
    char *ini = (char *)(uintptr_t)short_run_write(
        &scratch, "[fault.1]\ntarget = other\nop = silu\nkind = argument window +1\n");
    struct printed printed = PRINTED(command_run_main, "--config", ini);

    cr_assert_eq(printed.outcome, OUTCOME_USAGE, "%s%s", printed.out, printed.err);
    cr_assert_not_null(strstr(printed.err, "can be done to: attention"));
    printed_release(&printed);
    scratch_remove(&scratch);
}

Test(command_run, a_config_is_needed)
{
    struct printed printed = PRINTED(command_run_main, "--threads", "1");

    cr_assert_eq(printed.outcome, OUTCOME_USAGE);
    cr_assert_not_null(strstr(printed.err, "--config FILE"));
    printed_release(&printed);
}
