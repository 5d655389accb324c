// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "tensor/range.h"

#include <criterion/criterion.h>
#include <math.h>

static struct range_loss of(enum activation activation, const float *values, size_t count)
{
    struct range_loss loss = {.count = 0};

    range_add(&loss, activation, values, count);
    return loss;
}

// 65519 is rounded down to the largest value of f16, 65520 to infinity.
Test(range, values_beyond_are_those_that_become_infinite)
{
    static const float values[] = {1, -65504, 65519, 65520, -1e9f, INFINITY, NAN, 0};
    const struct range_loss half = of(ACTIVATION_F16, values, 8);
    const struct range_loss brain = of(ACTIVATION_BF16, values, 8);

    cr_assert_eq(half.count, 6u);
    cr_assert_eq(half.beyond, 2u);
    cr_assert_eq(half.largest, 1e9);
    cr_assert_eq(half.below, 0u);
    cr_assert_eq(brain.count, 6u);
    cr_assert_eq(brain.beyond, 0u);
    cr_assert_eq(of(ACTIVATION_BF16, (const float[]){3.4e38f, 1}, 2).beyond, 1u);
}

Test(range, values_below_lose_precision_or_become_zero)
{
    static const float values[] = {0x1p-14f, -0x1p-15f, 0x1.8p-24f, 0x1p-26f, 0};
    const struct range_loss half = of(ACTIVATION_F16, values, 5);

    cr_assert_eq(half.below, 3u);
    cr_assert_eq(half.zeroed, 1u);
    cr_assert_eq(of(ACTIVATION_BF16, values, 5).below, 0u);
    // 1.5 of the least number is rounded to 2 of it, and the next value to nothing.
    cr_assert_eq(half.error_squares, 0x1p-25 * 0x1p-25 + 0x1p-52);
}

Test(range, the_relative_error_of_normal_numbers_is_at_most_their_rounding)
{
    float values[1000];

    for (int i = 0; i < 1000; i++) {
        values[i] = 1 + 0.001f * (float)i; // The worst binade.
    }
    for (int activation = ACTIVATION_F16; activation <= ACTIVATION_BF16; activation++) {
        const struct range_loss loss = of((enum activation)activation, values, 1000);
        const double rounding = activation_type((enum activation)activation)->rounding;

        cr_assert_gt(range_relative(&loss), rounding / 8);
        cr_assert_leq(range_relative(&loss), rounding);
    }
    for (int i = 0; i < 1000; i++) {
        values[i] *= 0x1p-20f;
    }
    const struct range_loss low = of(ACTIVATION_F16, values, 1000);

    cr_assert_gt(range_relative(&low), 0x1p-11);
    cr_assert_eq(range_relative(&(struct range_loss){.count = 0}), 0);
}

Test(range, sums_of_parts_are_those_of_the_whole)
{
    float values[600];

    for (int i = 0; i < 600; i++) {
        values[i] = (float)i * 250 - 70000;
    }
    struct range_loss first = of(ACTIVATION_F16, values, 300);
    const struct range_loss second = of(ACTIVATION_F16, values + 300, 300);
    const struct range_loss whole = of(ACTIVATION_F16, values, 600);

    range_merge(&first, &second);
    cr_assert_eq(first.count, whole.count);
    cr_assert_eq(first.beyond, whole.beyond);
    cr_assert_gt(first.beyond, 0u);
    cr_assert_eq(first.largest, whole.largest);
    cr_assert_float_eq(first.value_squares, whole.value_squares, whole.value_squares * 1e-12);
}
