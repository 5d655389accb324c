// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "host/interrupt.h"
#include "host/progress.h"

#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <signal.h>

Test(progress, a_phase_ends_with_a_line, .init = cr_redirect_stderr)
{
    struct progress progress;

    progress_begin(&progress, "carve", 0);
    progress.begin_ns -= 2500000000u; // As if it had begun earlier.
    cr_assert_eq(progress_show(&progress, 1, 10), TAPML_OK);
    progress_end(&progress, "%d prompts", 10);
    (void)fflush(stderr);
    cr_assert_stderr_eq_str("carve: 10 prompts (2.5 s)\n");
}

Test(progress, a_long_phase_says_how_far_it_is, .init = cr_redirect_stderr)
{
    struct progress progress;

    progress_begin(&progress, "carve", 0);
    progress.begin_ns -= 10000000000u;
    progress.shown_ns -= 10000000000u;
    cr_assert_eq(progress_show(&progress, 5, 10), TAPML_OK);
    cr_assert_eq(progress_show(&progress, 6, 10), TAPML_OK); // Too soon for another line.
    (void)fflush(stderr);
    cr_assert_stderr_eq_str("carve: 5 / 10, 10 s left\n");
}

Test(progress, a_quiet_one_prints_nothing, .init = cr_redirect_stderr)
{
    struct progress progress;

    progress_begin(&progress, "carve", 1);
    progress.shown_ns -= 10000000000u;
    cr_assert_eq(progress_show(&progress, 5, 10), TAPML_OK);
    progress_end(&progress, "done");
    (void)fputs("x", stderr);
    (void)fflush(stderr);
    cr_assert_stderr_eq_str("x");
}

Test(progress, tells_of_an_interruption)
{
    struct progress progress;

    progress_begin(&progress, "carve", 1);
    interrupt_watch();
    (void)raise(SIGINT);
    cr_assert_eq(progress_show(&progress, 5, 10), TAPML_CANCELLED);
}
