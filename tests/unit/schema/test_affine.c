// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "schema/affine.h"

#include <criterion/criterion.h>

static const struct affine tokens = {0, {1, 0, 0, 0}};
static const struct affine position = {0, {0, 1, 0, 0}};

Test(affine, sums_and_differences)
{
    const struct affine one = affine_constant(1);
    const struct affine_point point = {{7, 100, 0, 0}};
    struct affine value;

    cr_assert_eq(affine_add(&tokens, &position, &value), TAPML_OK);
    cr_assert_eq(affine_add(&value, &one, &value), TAPML_OK);
    cr_assert_eq(affine_at(&value, &point), 108);
    cr_assert_not(affine_is_constant(&value));
    cr_assert_eq(affine_subtract(&value, &tokens, &value), TAPML_OK);
    cr_assert_eq(affine_subtract(&value, &position, &value), TAPML_OK);
    cr_assert(affine_equal(&value, &one));
    cr_assert(affine_is_constant(&value));
}

Test(affine, a_product_has_at_most_one_symbol)
{
    const struct affine three = affine_constant(3);
    struct affine left;
    struct affine right;

    cr_assert_eq(affine_multiply(&tokens, &three, &left), TAPML_OK);
    cr_assert_eq(affine_multiply(&three, &tokens, &right), TAPML_OK);
    cr_assert(affine_equal(&left, &right));
    cr_assert_eq(left.factor[AFFINE_TOKENS], 3);
    cr_assert_eq(affine_multiply(&tokens, &position, &left), TAPML_INVALID);
    cr_assert_eq(left.factor[AFFINE_TOKENS], 3, "written although it failed");
}

Test(affine, division_is_exact)
{
    const struct affine six_tokens = {4, {6, 0, 0, 0}};
    const struct affine two = affine_constant(2);
    const struct affine three = affine_constant(3);
    const struct affine zero = affine_constant(0);
    const struct affine least = affine_constant(INT64_MIN);
    const struct affine minus = affine_constant(-1);
    struct affine value;

    cr_assert_eq(affine_divide(&six_tokens, &two, &value), TAPML_OK);
    cr_assert_eq(value.factor[AFFINE_TOKENS], 3);
    cr_assert_eq(value.constant, 2);
    cr_assert_eq(affine_divide(&six_tokens, &three, &value), TAPML_INVALID);
    cr_assert_eq(affine_divide(&six_tokens, &zero, &value), TAPML_INVALID);
    cr_assert_eq(affine_divide(&six_tokens, &tokens, &value), TAPML_INVALID);
    cr_assert_eq(affine_divide(&least, &minus, &value), TAPML_INVALID);
}

Test(affine, what_does_not_fit_is_refused)
{
    const struct affine most = affine_constant(INT64_MAX);
    const struct affine one = affine_constant(1);
    const struct affine two = affine_constant(2);
    const struct affine minus_two = affine_constant(-2);
    struct affine value;

    cr_assert_eq(affine_add(&most, &one, &value), TAPML_INVALID);
    cr_assert_eq(affine_subtract(&minus_two, &most, &value), TAPML_INVALID);
    cr_assert_eq(affine_multiply(&most, &two, &value), TAPML_INVALID);
}

static void expect_text(struct affine value, const char *expected)
{
    char text[80];

    affine_text(&value, text, sizeof(text));
    cr_assert_str_eq(text, expected);
}

Test(affine, text)
{
    char small[4];

    expect_text(affine_constant(0), "0");
    expect_text(affine_constant(-128), "-128");
    expect_text(affine_constant(INT64_MIN), "-9223372036854775808");
    expect_text(tokens, "T");
    expect_text((struct affine){1, {2, 0, 0, 0}}, "2 T + 1");
    expect_text((struct affine){-1, {1, 1, 0, 0}}, "T + P - 1");
    expect_text((struct affine){0, {-1, 0, 3, -4}}, "-T + 3 R - 4 C");
    affine_text(&(struct affine){123456, {1, 0, 0, 0}}, small, sizeof(small));
    cr_assert_str_eq(small, "T +");
}
