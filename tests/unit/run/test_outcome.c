// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/outcome.h"

#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <string.h>

Test(outcome, each_status_has_its_exit_code)
{
    cr_assert_eq(outcome_of(TAPML_OK), 0);
    cr_assert_eq(outcome_of(TAPML_INVALID), 2);
    cr_assert_eq(outcome_of(TAPML_NOT_FOUND), 2);
    cr_assert_eq(outcome_of(TAPML_PRECONDITION), 2);
    cr_assert_eq(outcome_of(TAPML_UNAVAILABLE), 3);
    cr_assert_eq(outcome_of(TAPML_NO_MEMORY), 3);
    cr_assert_eq(outcome_of(TAPML_DEVICE_LOST), 3);
    cr_assert_eq(outcome_of(TAPML_CANCELLED), 130);
    cr_assert_eq(outcome_of(77), 3, "an unknown code is a failure");
}

Test(outcome, each_exit_code_has_a_meaning)
{
    static const enum outcome all[] = {OUTCOME_OK,          OUTCOME_WRONG,   OUTCOME_USAGE,
                                       OUTCOME_ENVIRONMENT, OUTCOME_UNKNOWN, OUTCOME_INTERRUPTED};
    const size_t count = sizeof(all) / sizeof(*all);

    for (size_t i = 0; i < count; i++) {
        cr_expect_eq(outcome_meanings[i].code, (int)all[i]);
        cr_expect_not_null(outcome_meanings[i].text);
    }
    cr_expect_null(outcome_meanings[count].text);
}

Test(outcome, a_failure_is_reported, .init = cr_redirect_stderr)
{
    cr_assert_eq(outcome_report(status_fail(TAPML_INVALID, "no '%s'", "x")), OUTCOME_USAGE);
    (void)fflush(stderr);
    cr_assert_stderr_eq_str("tapml-host: no 'x'\n");
}

Test(outcome, a_failure_is_that_of_its_program, .init = cr_redirect_stderr)
{
    outcome_set_program("other");
    (void)outcome_report(status_fail(TAPML_INVALID, "no '%s'", "x"));
    (void)fflush(stderr);
    cr_assert_stderr_eq_str("other: no 'x'\n");
}

Test(outcome, success_is_silent, .init = cr_redirect_stderr)
{
    cr_assert_eq(outcome_report(TAPML_OK), OUTCOME_OK);
    (void)fputs("x", stderr); // Criterion cannot compare with nothing.
    (void)fflush(stderr);
    cr_assert_stderr_eq_str("x");
}

Test(outcome, what_was_printed_and_lost_is_no_success, .init = cr_redirect_stderr)
{
    cr_assert_not_null(freopen("/dev/full", "w", stdout));
    cr_assert_eq(outcome_finish(OUTCOME_OK), OUTCOME_OK, "nothing was printed");
    cr_assert_gt(printf("a result\n"), 0);
    cr_assert_eq(outcome_finish(OUTCOME_USAGE), OUTCOME_USAGE, "there is a reason already");
    cr_assert_eq(outcome_finish(OUTCOME_OK), OUTCOME_ENVIRONMENT);
    cr_assert_eq(outcome_finish(OUTCOME_WRONG), OUTCOME_ENVIRONMENT, "it stays lost");
    cr_assert_not_null(
        strstr(status_message(), "cannot write to the standard output: the disk is full"));
}
