// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/interrupt.h"
#include "run/progress.h"

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
    progress.unit = "tokens";
    progress.begin_ns -= 10000000000u;
    progress.shown_ns -= 10000000000u;
    cr_assert_eq(progress_show(&progress, 5, 10), TAPML_OK);
    cr_assert_eq(progress_show(&progress, 6, 10), TAPML_OK); // Too soon for another line.
    progress.shown_ns -= 10000000000u;
    cr_assert_eq(progress_show(&progress, 5, 10), TAPML_OK); // Not a tenth more.
    (void)fflush(stderr);
    cr_assert_stderr_eq_str("carve: 5 / 10 tokens, 10 s left\n");
}

Test(progress, without_a_basis_it_says_nothing_of_the_time_left, .init = cr_redirect_stderr)
{
    struct progress progress;

    progress_begin(&progress, "replay", 0);
    progress.shown_ns -= 60000000000u; // A line is due, and no second has passed.
    cr_assert_eq(progress_show(&progress, 5, 10), TAPML_OK);
    progress.begin_ns -= 10000000000u;
    progress.shown_ns -= 60000000000u;
    progress.skipped = 6; // By an earlier start.
    cr_assert_eq(progress_show(&progress, 6, 10), TAPML_OK);
    progress.shown_ns -= 60000000000u;
    cr_assert_eq(progress_show(&progress, 8, 10), TAPML_OK); // 2 took 10 s.
    (void)fflush(stderr);
    cr_assert_stderr_eq_str("replay: 5 / 10\nreplay: 6 / 10\nreplay: 8 / 10, 10 s left\n");
}

Test(progress, times_are_reported_in_two_parts)
{
    char text[PROGRESS_TIME_TEXT];

    progress_print_time(0.2, text);
    cr_assert_str_eq(text, "0 s");
    progress_print_time(59.6, text);
    cr_assert_str_eq(text, "1 min 0 s");
    progress_print_time(7500, text);
    cr_assert_str_eq(text, "2 h 5 min");
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

Test(progress, reports_of_an_interruption)
{
    struct progress progress;

    progress_begin(&progress, "carve", 1);
    interrupt_watch();
    (void)raise(SIGINT);
    cr_assert_eq(progress_show(&progress, 5, 10), TAPML_CANCELLED);
}
