// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/running_mean.h"

#include <criterion/criterion.h>
#include <math.h>

static const double first[] = {1, 2, 4}, second[] = {2, 3, 7};

Test(running_mean, mean_and_error_are_those_of_the_formula)
{
    struct running_mean mean = {0};

    cr_assert_eq(running_mean_error(&mean), 0);
    running_mean_add(&mean, first[0]);
    cr_assert_eq(mean.mean, 1);
    cr_assert_eq(running_mean_error(&mean), 0);
    running_mean_add(&mean, first[1]);
    running_mean_add(&mean, first[2]);
    cr_assert_float_eq(mean.mean, 7.0 / 3, 1e-15);
    // The squares of -4/3, -1/3 and 5/3 are 42/9 together.
    cr_assert_float_eq(running_mean_error(&mean), sqrt(42.0 / 9 / 3 / 2), 1e-15);
}

Test(running_mean, nothing_cancels_beside_a_large_mean)
{
    struct running_mean mean = {0};

    for (int i = 0; i < 3; i++) {
        running_mean_add(&mean, 1e9 + first[i]);
    }
    cr_assert_float_eq(running_mean_error(&mean), sqrt(42.0 / 9 / 3 / 2), 1e-6);
}

Test(running_mean, pairs_know_what_both_have_in_common)
{
    struct running_pair pair = {.products = 0};

    cr_assert_eq(running_mean_covariance(&pair), 0);
    for (int i = 0; i < 3; i++) {
        running_mean_add_pair(&pair, first[i], second[i]);
    }
    // Products (-4/3)(-2) + (-1/3)(-1) + (5/3)(3) = 8; the squares of the second are 14; the
    // differences 1, 1, 3 have squares of 24/9.
    cr_assert_float_eq(pair.second.mean, 4, 1e-15);
    cr_assert_float_eq(running_mean_covariance(&pair), 8.0 / 3 / 2, 1e-14);
    cr_assert_float_eq(running_mean_correlation(&pair), 8 / sqrt(42.0 / 9 * 14), 1e-14);
    cr_assert_float_eq(running_mean_difference_error(&pair), sqrt(24.0 / 9 / 3 / 2), 1e-14);
}

Test(running_mean, equal_series_do_not_differ)
{
    struct running_pair pair = {.products = 0};

    for (int i = 0; i < 3; i++) {
        running_mean_add_pair(&pair, first[i] / 3, first[i] / 3);
    }
    cr_assert_float_eq(running_mean_difference_error(&pair), 0, 1e-8);
    cr_assert_float_eq(running_mean_correlation(&pair), 1, 1e-15);
    pair = (struct running_pair){.products = 0};
    running_mean_add_pair(&pair, 1, 1);
    cr_assert(isnan(running_mean_correlation(&pair)));
}
