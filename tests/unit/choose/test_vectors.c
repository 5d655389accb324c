// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"
#include "choose/vectors.h"
#include "made_cases.h"

enum { COUNT = 90 };

static struct feature_case cases[COUNT];

Test(vectors, signatures_are_numbered_as_they_come)
{
    struct arena *arena = arena_create();
    uint32_t *groups = NULL;
    size_t count = 0;
    made_cases(cases, COUNT);
    MUST(vectors_group(cases, COUNT, arena, &groups, &count));
    cr_expect_eq(count, 3);
    cr_expect(groups[0] == 0 && groups[1] == 1 && groups[2] == 2 && groups[3] == 0);
    arena_destroy(arena);
}

static void expect_scaled(const float *values, size_t column, size_t first, size_t step)
{
    double sum = 0, squares = 0, count = 0;
    for (size_t i = first; i < COUNT; i += step) {
        const double value = (double)values[i * FEATURE_COUNT + column];
        sum += value;
        squares += value * value;
        count++;
    }
    cr_expect_float_eq(sum / count, 0, 1e-5);
    cr_expect_float_eq(squares / count, 1, 1e-4);
}

Test(vectors, columns_have_mean_0_and_variance_1_within_their_groups)
{
    struct arena *arena = arena_create();
    uint32_t *groups = NULL;
    float *values = NULL;
    size_t count = 0;
    made_cases(cases, COUNT);
    MUST(vectors_group(cases, COUNT, arena, &groups, &count));
    MUST(vectors_make(cases, COUNT, groups, count, arena, &values));
    expect_scaled(values, FEATURE_rows, 1, 3);
    expect_scaled(values, FEATURE_operations, 2, 3);
    cr_expect_eq(values[FEATURE_contiguous], 0, "a column that is one value says nothing");
    cr_expect_eq(values[FEATURE_kurtosis], 0, "nor does one that does not apply");
    MUST(vectors_make(cases, COUNT, NULL, 1, arena, &values));
    expect_scaled(values, FEATURE_largest, 0, 1);
    arena_destroy(arena);
}

// Of a store from somebody else.
Test(vectors, absurd_numbers_give_numbers)
{
    static const double absurd[] = {INFINITY, -INFINITY, 1e308, -1e308, 1e-320};
    struct arena *arena = arena_create();
    float *values = NULL;
    made_cases(cases, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        for (size_t column = 0; column < FEATURE_COUNT; column++) {
            cases[i].row.values[column] = absurd[(i + column) % 5];
        }
    }
    MUST(vectors_make(cases, COUNT, NULL, 1, arena, &values));
    for (size_t i = 0; i < (size_t)COUNT * FEATURE_COUNT; i++) {
        cr_assert(isfinite(values[i]), "%zu", i);
    }
    arena_destroy(arena);
}

Test(vectors, sizes_and_magnitudes_are_logarithms)
{
    struct feature_row row;
    for (size_t i = 0; i < FEATURE_COUNT; i++) {
        row.values[i] = NAN;
    }
    cr_expect(isnan(vectors_value(&row, FEATURE_rows)));
    cr_expect(isnan(vectors_value(&row, FEATURE_largest)));
    row.values[FEATURE_rows] = 7;
    row.values[FEATURE_largest] = 0.25;
    row.values[FEATURE_zeros] = 0.5;
    cr_expect_eq(vectors_value(&row, FEATURE_rows), 3);
    cr_expect_eq(vectors_value(&row, FEATURE_largest), -2);
    cr_expect_eq(vectors_value(&row, FEATURE_zeros), 0.5);
    row.values[FEATURE_largest] = 0;
    cr_expect_eq(vectors_value(&row, FEATURE_largest), -149);
}
