// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/random.h"
#include "verify/outlook.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { ALL = 400, PREFIX = 60, TRIALS = 300 };

// Of random orders of cases of which an eighth fails, and that take from 0 to 1 second.
Test(outlook, both_spreads_hold_of_most_samples)
{
    struct random random;
    size_t rates = 0, times = 0;
    random_init(&random, 4);
    for (int trial = 0; trial < TRIALS; trial++) {
        struct outlook outlook = {.all = ALL};
        double low = 0, high = 0, seconds = 0, spread = 0, left = 0;
        size_t passed = 0;
        for (size_t i = 0; i < ALL; i++) {
            const int passes = random_below(&random, 8) > 0;
            const double own = random_between(&random, 0, 1);
            passed += (size_t)passes;
            if (i < PREFIX) {
                outlook_add(&outlook, passes ? VERDICT_PASS : VERDICT_FAIL, own);
            } else {
                left += own;
            }
        }
        cr_assert(outlook_pass_rate(&outlook, &low, &high));
        cr_assert(outlook_left(&outlook, &seconds, &spread));
        rates += low <= (double)passed / ALL && (double)passed / ALL <= high;
        times += fabs(seconds - left) <= spread;
    }
    cr_expect(rates > TRIALS * 90 / 100 && times > TRIALS * 90 / 100, "%zu and %zu", rates, times);
}

Test(outlook, what_is_known_bounds_it_and_the_end_has_no_spread)
{
    struct outlook outlook = {.all = 30};
    char text[OUTLOOK_TEXT];
    double low = 0, high = 0, seconds = 0, spread = 0;
    for (int i = 0; i < OUTLOOK_LEAST - 1; i++) {
        outlook_add(&outlook, i < 6 ? VERDICT_FAIL : VERDICT_PASS, NAN);
    }
    cr_expect_not(outlook_pass_rate(&outlook, &low, &high));
    outlook_print(&outlook, text);
    cr_expect_str_eq(text, "", "too few for a word");
    for (int i = OUTLOOK_LEAST - 1; i < 30; i++) {
        outlook_add(&outlook, VERDICT_PASS, 2);
    }
    cr_expect_not(outlook_left(&outlook, &seconds, &spread), "too few were timed");
    cr_assert(outlook_pass_rate(&outlook, &low, &high));
    cr_expect(low <= 24.0 / 30 + 1e-12 && high >= 24.0 / 30 - 1e-12 && high - low < 1e-9);
    outlook_print(&outlook, text);
    cr_expect_str_eq(text, "; 80.0 % pass, 80.0 to 80.0 % of all expected");
}
