// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/random.h"
#include "carve/statistics.h"
#include "store/call_line.h"
#include "tensor/convert.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { COUNT = 1000 };

// As the formula says it.
static struct call_statistics plainly(const float *values, uint64_t count)
{
    struct call_statistics found = {.count = count};
    for (uint64_t i = 0; i < count; i++) {
        const double magnitude = fabs((double)values[i]);
        found.mean_square += magnitude * magnitude / (double)count;
        found.largest = fmax(found.largest, magnitude);
        if (magnitude > 0 && (found.least == 0 || magnitude < found.least)) {
            found.least = magnitude;
        }
    }
    return found;
}

static void expect_same(const float *values, uint64_t count)
{
    const struct call_statistics expected = plainly(values, count);
    struct call_statistics found;
    statistics_measure(TAPML_F32, values, count, &found);
    cr_assert_eq(found.count, count);
    cr_assert_eq(found.least, expected.least);
    cr_assert_eq(found.largest, expected.largest);
    cr_assert_eq(found.non_finite, 0);
    cr_assert_eq(found.non_finite_kinds, 0);
    cr_assert(fabs(found.mean_square - expected.mean_square) <= 1e-12 * expected.mean_square);
}

static void make(float *values)
{
    struct random random;
    random_init(&random, 5);
    for (int i = 0; i < COUNT; i++) {
        values[i] = (float)random_between(&random, -10, 10);
    }
}

Test(statistics, of_any_number_of_values_anywhere)
{
    float values[COUNT];
    unsigned char shifted[COUNT * sizeof(float) + 1];
    make(values);
    values[3] = 0;
    values[4] = -0.0f;
    values[5] = 0x1p-149f;
    for (uint64_t count = 0; count < 70; count++) {
        expect_same(values, count);
    }
    expect_same(values, COUNT);

    struct call_statistics found;
    memcpy(shifted + 1, values, sizeof(values));
    statistics_measure(TAPML_F32, shifted + 1, COUNT, &found);
    cr_assert_eq(found.least, 0x1p-149);
    cr_assert_eq(found.largest, plainly(values, COUNT).largest);
}

Test(statistics, of_zeros_alone)
{
    const float zeros[20] = {0, -0.0f};
    expect_same(zeros, 20);
}

Test(statistics, what_is_not_finite_counts_by_itself)
{
    float values[COUNT];
    make(values);
    const double largest = plainly(values + 4, COUNT - 4).largest;
    values[0] = NAN;
    values[1] = -INFINITY;
    values[2] = INFINITY;
    values[3] = -NAN;
    struct call_statistics found;
    statistics_measure(TAPML_F32, values, COUNT, &found);
    cr_assert_eq(found.non_finite, 4);
    cr_assert_eq(found.non_finite_kinds,
                 CALL_LINE_NAN | CALL_LINE_PLUS_INFINITY | CALL_LINE_MINUS_INFINITY);
    cr_assert_eq(found.largest, largest);
    cr_assert(isfinite(found.mean_square) && found.mean_square > 1);
    statistics_measure(TAPML_F32, values + 2, 1, &found);
    cr_assert_eq(found.non_finite_kinds, CALL_LINE_PLUS_INFINITY);
    cr_assert_eq(found.mean_square, 0);
}

Test(statistics, of_other_types)
{
    const int32_t whole[] = {-7, 0, 3};
    const uint16_t halves[] = {convert_f32_to_f16(0.5f), convert_f32_to_f16(-4)};
    struct call_statistics found;
    statistics_measure(TAPML_I32, whole, 3, &found);
    cr_assert_eq(found.least, 3);
    cr_assert_eq(found.largest, 7);
    cr_assert_float_eq(found.mean_square, 58.0 / 3, 1e-12);
    statistics_measure(TAPML_F16, halves, 2, &found);
    cr_assert_eq(found.least, 0.5);
    cr_assert_eq(found.largest, 4);
}
