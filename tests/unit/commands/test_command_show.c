// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/command.h"
#include "harness/short_run.h"

Test(command_show, a_run_is_listed_and_a_case_is_shown)
{
    struct scratch scratch;

    scratch_make(&scratch);
    char *ini = (char *)(uintptr_t)short_run_write(&scratch, "");
    struct printed run = PRINTED(command_run_main, "--config", ini);

    cr_assert_eq(run.outcome, OUTCOME_OK, "%s%s", run.out, run.err);
    printed_release(&run);
    char *store = (char *)(uintptr_t)scratch_path(&scratch, "run/run.tapmlrun");

    printed_expect(PRINTED(command_show_main, store, "--op", "rms_norm"), OUTCOME_OK,
                   "tapml.rms_norm");
    printed_expect(PRINTED(command_show_main, store, "--case", "1"), OUTCOME_OK,
                   "\nother: pass, margin ");
    printed_expect(
        PRINTED(command_show_main, store, "--case", "1", "--tensor", "y", "--slice", "0,0"),
        OUTCOME_OK, "y[0, 0] ");
    printed_expect(PRINTED(command_show_main, store, "--case", "99999"), OUTCOME_USAGE, "99999");
    printed_expect(PRINTED(command_show_main, store, "--tensor", "y"), OUTCOME_USAGE,
                   "--tensor needs --case");
    printed_expect(PRINTED(command_show_main, store, "--case", "1", "--slice", "0"), OUTCOME_USAGE,
                   "--slice needs --tensor");
    printed_expect(PRINTED(command_show_main, "--op", "add"), OUTCOME_USAGE, "one store expected");
    scratch_remove(&scratch);
}
