// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/command.h"
#include "harness/short_run.h"

static void expect(struct printed printed, enum outcome outcome, const char *piece)
{
    cr_expect_eq(printed.outcome, outcome, "%s%s", printed.out, printed.err);
    cr_expect(strstr(printed.out, piece) != NULL || strstr(printed.err, piece) != NULL,
              "'%s' is not in:\n%s%s", piece, printed.out, printed.err);
    printed_release(&printed);
}

Test(command_show, a_run_is_listed_and_a_case_is_shown)
{
    struct scratch scratch;

    scratch_make(&scratch);
    char *ini = (char *)(uintptr_t)short_run_write(&scratch, "");
    struct printed run = PRINTED(command_run_main, "--config", ini);

    cr_assert_eq(run.outcome, OUTCOME_OK, "%s%s", run.out, run.err);
    printed_release(&run);
    char *store = (char *)(uintptr_t)scratch_path(&scratch, "run/run.tapmlrun");

    expect(PRINTED(command_show_main, store, "--op", "rms_norm"), OUTCOME_OK, "tapml.rms_norm");
    expect(PRINTED(command_show_main, store, "--case", "1"), OUTCOME_OK, "\nother: pass, margin ");
    expect(PRINTED(command_show_main, store, "--case", "1", "--tensor", "y", "--slice", "0,0"),
           OUTCOME_OK, "y[0, 0] ");
    expect(PRINTED(command_show_main, store, "--case", "99999"), OUTCOME_USAGE, "99999");
    expect(PRINTED(command_show_main, store, "--tensor", "y"), OUTCOME_USAGE,
           "--tensor needs --case");
    expect(PRINTED(command_show_main, store, "--case", "1", "--slice", "0"), OUTCOME_USAGE,
           "--slice needs --tensor");
    expect(PRINTED(command_show_main, "--op", "add"), OUTCOME_USAGE, "one store expected");
    scratch_remove(&scratch);
}
