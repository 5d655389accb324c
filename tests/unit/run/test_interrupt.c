// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/interrupt.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <string.h>

Test(interrupt, a_signal_is_noted_and_nothing_else)
{
    cr_assert_eq(interrupt_check(), TAPML_OK);
    interrupt_watch();
    cr_assert_eq(interrupt_check(), TAPML_OK);
    cr_assert_eq(raise(SIGINT), 0);
    cr_assert_eq(interrupt_check(), TAPML_CANCELLED);
    cr_assert_not_null(strstr(status_message(), "resumes after the last finished step"));
}

Test(interrupt, a_second_signal_ends_the_program, .exit_code = 130)
{
    interrupt_watch();
    (void)raise(SIGTERM);
    cr_assert_eq(interrupt_check(), TAPML_CANCELLED);
    (void)raise(SIGINT); // Of either kind.
}
