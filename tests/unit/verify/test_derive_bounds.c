// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/cases.h"
#include "harness/schemas.h"
#include "verify/derive_bounds.h"

#include <tapml/ops.h>

#include <criterion/criterion.h>
#include <math.h>

Test(derive_bounds, the_range_is_that_of_finite_values)
{
    struct cases_silu silu;
    cases_make_silu(&silu, "s", 0);
    for (int i = 0; i < CASES_ROWS * CASES_WIDTH; i++) {
        silu.x[i] = 0;
    }
    cr_expect_eq(derive_bounds_range(&silu.arguments[0]), 1, "zeros have no range");
    silu.x[1] = -7;
    silu.x[2] = INFINITY;
    silu.x[3] = NAN;
    cr_expect_eq(derive_bounds_range(&silu.arguments[0]), 7);
    cr_expect_eq(derive_bounds_range(&silu.arguments[1]), 1, "nothing goes in there");
}

Test(derive_bounds, blocks_have_a_range_of_1)
{
    struct cases_blocks blocks;
    cases_make_blocks(&blocks, "q", 0);
    cr_expect_eq(derive_bounds_range(&blocks.arguments[1]), 1);
}

Test(derive_bounds, critical_values_follow_the_attributes)
{
    struct case_argument arguments[4] = {
        {.name = "x"}, {.name = "low", .d = -2}, {.name = "high", .d = INFINITY}, {.name = "y"}};
    const struct carved_case item = {.arguments = arguments, .argument_count = 4};
    double values[CRITICAL_VALUES_MAX];
    cr_assert_eq(derive_bounds_criticals(&item, schema_of(&tapml_clip), values), 2,
                 "infinity is none");
    cr_expect_eq(values[0], -2);
    cr_expect_eq(values[1], 0);
    cr_expect_eq(derive_bounds_criticals(&item, schema_of(&tapml_add), values), 0);
}
