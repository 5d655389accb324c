// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "graph/sum_table.h"

#include <criterion/criterion.h>

Test(sum_table, numbers_and_symbols_are_themselves)
{
    struct sum_table sums = {.items = NULL};
    struct affine value;
    int64_t code = 0;

    cr_assert_eq(sum_table_value(&sums, 7, &value), TAPML_OK);
    cr_assert(affine_is_constant(&value));
    cr_assert_eq(value.constant, 7);
    cr_assert_eq(sum_table_code(&sums, &value, &code), TAPML_OK);
    cr_assert_eq(code, 7);
    cr_assert_eq(sum_table_value(&sums, -1, &value), TAPML_OK);
    cr_assert_eq(value.factor[0], 1);
    cr_assert_eq(sum_table_code(&sums, &value, &code), TAPML_OK);
    cr_assert_eq(code, -1);
    cr_assert_eq(sums.count, 0u);
    sum_table_release(&sums);
}

Test(sum_table, a_sum_is_kept_once)
{
    struct sum_table sums = {.items = NULL};
    struct affine value = affine_constant(3), again;
    int64_t first = 0, second = 0;

    value.factor[1] = 2;
    cr_assert_eq(sum_table_code(&sums, &value, &first), TAPML_OK);
    cr_assert_eq(sum_table_code(&sums, &value, &second), TAPML_OK);
    cr_assert_eq(first, -AFFINE_SYMBOLS - 1);
    cr_assert_eq(second, first);
    cr_assert_eq(sums.count, 1u);
    cr_assert_eq(sum_table_value(&sums, first, &again), TAPML_OK);
    cr_assert(affine_equal(&again, &value));
    cr_assert_eq(sum_table_value(&sums, first - 1, &again), TAPML_INVALID);
    cr_assert_eq(sum_table_value(&sums, INT64_MIN, &again), TAPML_INVALID);
    sum_table_release(&sums);
}
