// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/clock.h"

#include <criterion/criterion.h>
#include <time.h>

Test(clock, never_goes_back_and_counts_nanoseconds)
{
    const uint64_t begin = clock_now_ns();
    const struct timespec pause = {.tv_nsec = 20000000};
    nanosleep(&pause, NULL);
    const uint64_t end = clock_now_ns();
    cr_assert_geq(end - begin, 20000000u);
    cr_assert_lt(end - begin, 20000000000u);
}

Test(clock, wall_is_the_time_of_day)
{
    const int64_t expected = time(NULL);
    const int64_t found = clock_wall_s();
    cr_assert_geq(found, expected);
    cr_assert_leq(found, expected + 5);
}
