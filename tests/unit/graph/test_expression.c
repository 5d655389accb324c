// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "graph/expression.h"

#include <criterion/criterion.h>
#include <string.h>

static const struct affine tokens = {0, {1, 0, 0, 0}};
static const struct affine capacity = {0, {0, 0, 0, 1}};
static const struct affine_point point = {{5, 10, 1, 64}};

static void define(struct expression_scope *scope, const char *name, int64_t value)
{
    const struct affine number = affine_constant(value);

    cr_assert_eq(expression_define(scope, name, &number), TAPML_OK);
}

// Matches a shape of plain numbers.
static tapml_status match(struct expression_scope *scope, const char *text, const char *numbers)
{
    struct affine shape[TAPML_MAX_RANK];
    uint32_t rank = 0;

    while (*numbers != '\0') {
        shape[rank++] = affine_constant(*numbers++ - '0');
    }
    return expression_match(scope, text, shape, rank);
}

static int64_t value_of(const struct expression_scope *scope, const char *text)
{
    int64_t value = -1;

    cr_assert_eq(expression_value(scope, text, &point, &value), TAPML_OK, "%s", status_message());
    return value;
}

static void expect_message(tapml_status status, const char *piece)
{
    cr_assert_eq(status, TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), piece), "'%s' is not in '%s'", piece,
                       status_message());
}

Test(expression, arithmetic)
{
    struct expression_scope scope;

    expression_scope_init(&scope);
    define(&scope, "in", 6);
    define(&scope, "out", 4);
    cr_assert_eq(value_of(&scope, "2 * in * out"), 48);
    cr_assert_eq(value_of(&scope, "in-out - 1"), 1);
    cr_assert_eq(value_of(&scope, "(in + out) * (in - out) / 5"), 4);
    cr_assert_eq(value_of(&scope, " 12/in*2 "), 4);
    cr_assert_eq(value_of(&scope, "out - (in - (out - 1))"), 1);
}

Test(expression, products_of_symbols_are_known_at_a_point)
{
    struct expression_scope scope;
    struct affine shape[2] = {tokens, capacity};
    uint32_t rank = 0;
    int64_t value = 0;

    expression_scope_init(&scope);
    cr_assert_eq(expression_match(&scope, "T, C", shape, 2), TAPML_OK);
    cr_assert_eq(value_of(&scope, "T * C"), 5 * 64);
    expect_message(expression_shape(&scope, "T * C", shape, &rank), "not affine");
    expect_message(expression_value(&scope, "T * missing", &point, &value),
                   "'missing' has no value");
}

Test(expression, a_symbol_is_bound_once_and_then_compared)
{
    struct expression_scope scope;

    expression_scope_init(&scope);
    cr_assert_eq(match(&scope, "T, heads, width", "523"), TAPML_OK);
    cr_assert_eq(match(&scope, "T, width", "53"), TAPML_OK);
    expect_message(match(&scope, "T, width", "54"), "axis 1 is 4, 'width' is 3");
    expect_message(match(&scope, "T, heads * width", "57"), "axis 1 is 7, 'heads * width' is 6");
    expect_message(match(&scope, "T, width", "5"), "rank is 1, expected [T, width]");
    expect_message(match(&scope, "T, width", "535"), "rank is 3");
    expect_message(match(&scope, "T + later, later", "83"), "'later' has no value");
}

Test(expression, symbols_of_the_graph_go_through)
{
    struct expression_scope scope;
    struct affine state[3] = {capacity, affine_constant(2), affine_constant(8)};
    struct affine mask = {0, {1, 1, 0, 0}};
    const struct affine position = {0, {0, 1, 0, 0}};
    struct affine shape[TAPML_MAX_RANK];
    uint32_t rank = 0;
    int64_t begin = 0;
    int64_t end = 0;

    expression_scope_init(&scope);
    cr_assert_eq(expression_define(&scope, "position", &position), TAPML_OK);
    cr_assert_eq(expression_match(&scope, "C, heads, width", state, 3), TAPML_OK);
    cr_assert_eq(expression_match(&scope, "T", &tokens, 1), TAPML_OK);
    cr_assert_eq(expression_match(&scope, "position + T", &mask, 1), TAPML_OK);
    cr_assert_eq(expression_shape(&scope, "T, heads * width", shape, &rank), TAPML_OK);
    cr_assert_eq(rank, 2);
    cr_assert(affine_equal(&shape[0], &tokens));
    cr_assert_eq(shape[1].constant, 16);
    cr_assert_eq(expression_range(&scope, "position .. position + T", &point, &begin, &end),
                 TAPML_OK);
    cr_assert_eq(begin, 10);
    cr_assert_eq(end, 15);
    expect_message(expression_range(&scope, "position", &point, &begin, &end), "'A .. B' expected");
}

Test(expression, leading_axes)
{
    struct expression_scope scope;
    struct affine shape[TAPML_MAX_RANK];
    uint32_t rank = 0;

    expression_scope_init(&scope);
    cr_assert_eq(match(&scope, "*rows, in", "234"), TAPML_OK);
    cr_assert_eq(value_of(&scope, "rows * in"), 24);
    cr_assert_eq(match(&scope, "*rows, 7", "237"), TAPML_OK);
    expect_message(match(&scope, "*rows, in", "264"), "axis 1 is 6, 'rows' is 3");
    expect_message(match(&scope, "*rows, in", "64"), "1 leading axes, '*rows' has 2");
    cr_assert_eq(expression_shape(&scope, "*rows, 9", shape, &rank), TAPML_OK);
    cr_assert_eq(rank, 3);
    cr_assert_eq(shape[1].constant, 3);
    cr_assert_eq(shape[2].constant, 9);

    expression_scope_init(&scope);
    cr_assert_eq(match(&scope, "*rows, in", "4"), TAPML_OK);
    cr_assert_eq(value_of(&scope, "rows"), 1);
    expect_message(match(&scope, "*rows, in", ""), "rank is 0");

    // The product of two symbols is not affine, and still has a value at a point.
    expression_scope_init(&scope);
    cr_assert_eq(expression_match(&scope, "*rows, in",
                                  (struct affine[]){tokens, capacity, affine_constant(3)}, 3),
                 TAPML_OK);
    cr_assert_eq(value_of(&scope, "2 * rows * in"), 2 * 5 * 64 * 3);
}

Test(expression, conditions)
{
    static const char text[] = "a ? b ? 1, 2 : 3 : 4, 5, 6";
    struct expression_scope scope;

    expression_scope_init(&scope);
    define(&scope, "a", 1);
    define(&scope, "b", 0);
    define(&scope, "transposed", 1);
    cr_assert_eq(match(&scope, text, "3"), TAPML_OK);
    cr_assert_eq(match(&scope, text, "12"), TAPML_INVALID);
    cr_assert_eq(match(&scope, "b ? 1 : a ? 2 : 3", "2"), TAPML_OK);
    cr_assert_eq(match(&scope, "transposed ? in, out : out, in", "68"), TAPML_OK);
    cr_assert_eq(value_of(&scope, "in"), 6);
    expect_message(match(&scope, "missing ? 1 : 2", "1"), "'missing' has no value");
}

Test(expression, what_is_well_formed)
{
    static const char *const good[] = {"T, hq, dk",
                                       "*rows, width",
                                       "transposed ? in, out : out, in",
                                       "position .. position + T",
                                       "0 .. position + T",
                                       "2 * T * hq * (position + T) * (dk + dv)",
                                       "a ? b ? 1 : 2 : 3",
                                       "rows / 2",
                                       "0"};
    static const char *const bad[] = {"",
                                      "T,",
                                      "T, , x",
                                      "2 +",
                                      "(T",
                                      "T)",
                                      "*",
                                      "*rows, *cols",
                                      "*2",
                                      "a ? b",
                                      "a : b",
                                      "a ? b : c : d",
                                      "a + 1 ? b : c",
                                      "T .. ",
                                      "1 .. 2 .. 3",
                                      "T x",
                                      "x;y",
                                      "99999999999999999999",
                                      "((((((((((((((((((((1))))))))))))))))))))"};

    for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
        cr_assert_eq(expression_check(good[i]), TAPML_OK, "'%s': %s", good[i], status_message());
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        cr_assert_eq(expression_check(bad[i]), TAPML_INVALID, "'%s' passes", bad[i]);
    }
}

Test(expression, bounds)
{
    struct expression_scope scope;
    struct affine shape[TAPML_MAX_RANK];
    uint32_t rank = 0;
    char name[3] = "aa";

    expression_scope_init(&scope);
    for (unsigned i = 0; i < EXPRESSION_SYMBOLS_MAX; i++) {
        name[1] = (char)('a' + i);
        define(&scope, name, i);
    }
    expect_message(match(&scope, "one_more", "1"), "more than 24 symbols");
    expect_message(expression_define(&scope, "aa", &tokens), "has a value already");
    expect_message(expression_shape(&scope, "1, 2, 3, 4, 5, 6, 7", shape, &rank),
                   "more than 6 axes");

    expression_scope_init(&scope);
    expect_message(match(&scope, "a_name_that_is_much_too_long_for_a_symbol", "1"), "no name of 1");
    define(&scope, "big", INT64_MAX);
    cr_assert_eq(match(&scope, "big * 2", "1"), TAPML_INVALID);
    cr_assert_eq(match(&scope, "big / 0", "1"), TAPML_INVALID);
}
