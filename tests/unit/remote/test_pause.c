// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "remote/pause.h"

#include <criterion/criterion.h>

Test(pause, is_not_there_at_first)
{
    const struct pause pause = {0, 0};

    cr_assert_eq(pause_left_ms(&pause), 0);
}

Test(pause, grows_up_to_the_most)
{
    struct pause pause = {0, 0};

    for (int expected_ms = PAUSE_LEAST_MS; expected_ms < PAUSE_MOST_MS; expected_ms *= 2) {
        const uint64_t before_ns = clock_now_ns();

        pause_grow(&pause);
        cr_assert_eq(pause.length_ms, expected_ms);
        cr_assert_geq(pause.next_ns, before_ns + (uint64_t)expected_ms * 1000000);
        cr_assert_leq(pause_left_ms(&pause), expected_ms + 1);
    }
    pause_grow(&pause);
    pause_grow(&pause);
    cr_assert_eq(pause.length_ms, PAUSE_MOST_MS);
    cr_assert_gt(pause_left_ms(&pause), 0, "five seconds");
}

Test(pause, begins_anew_when_it_was_ended)
{
    struct pause pause = {0, 0};

    pause_grow(&pause);
    pause_grow(&pause);
    pause_end(&pause);
    cr_assert_eq(pause_left_ms(&pause), 0);
    pause_grow(&pause);
    cr_assert_eq(pause.length_ms, PAUSE_LEAST_MS);
}
