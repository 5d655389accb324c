// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/arena.h"
#include "schema/expression_compiler.h"

#include <criterion/criterion.h>
#include <string.h>

static const struct affine tokens = {0, {1, 0, 0, 0}};
static const struct affine capacity = {0, {0, 0, 0, 1}};

// A schema whose texts come one after another, and the values of its names.
struct stage {
    struct arena *arena;
    struct expression_names names;
    struct expression_scope values;
};

static void stage_init(struct stage *stage)
{
    stage->arena = arena_create();
    stage->names.count = 0;
    expression_scope_init(&stage->values, &stage->names);
}

static void stage_release(struct stage *stage)
{
    arena_destroy(stage->arena);
}

static tapml_status
stage_compile(struct stage *stage, const char *text, const struct expression **out_expression)
{
    const uint32_t known = stage->names.count;
    const tapml_status status =
        expression_compiler_run(text, &stage->names, stage->arena, out_expression);

    for (uint32_t i = known; i < stage->names.count; i++) {
        stage->values.symbols[i].is_bound = 0;
    }
    return status;
}

static tapml_status
stage_match(struct stage *stage, const char *text, const struct affine *shape, uint32_t rank)
{
    const struct expression *expression = NULL;

    TAPML_TRY(stage_compile(stage, text, &expression));
    return expression_match(&stage->values, expression, shape, rank);
}

static tapml_status
stage_shape(struct stage *stage, const char *text, struct affine *out_shape, uint32_t *out_rank)
{
    const struct expression *expression = NULL;

    TAPML_TRY(stage_compile(stage, text, &expression));
    return expression_shape(&stage->values, expression, out_shape, out_rank);
}

static tapml_status stage_value(struct stage *stage, const char *text, int64_t *out_value)
{
    const struct expression *expression = NULL;

    TAPML_TRY(stage_compile(stage, text, &expression));
    return expression_value(&stage->values, expression, out_value);
}

static void stage_define(struct stage *stage, const char *name, const struct affine *value)
{
    const struct expression *expression = NULL;

    cr_assert_eq(stage_compile(stage, name, &expression), TAPML_OK);
    expression_define(&stage->values, expression_find(&stage->names, name), value);
}

static void define(struct stage *stage, const char *name, int64_t value)
{
    const struct affine number = affine_constant(value);

    stage_define(stage, name, &number);
}

// Matches a shape of plain numbers.
static tapml_status match(struct stage *scope, const char *text, const char *numbers)
{
    struct affine shape[TAPML_MAX_RANK];
    uint32_t rank = 0;

    while (*numbers != '\0') {
        shape[rank++] = affine_constant(*numbers++ - '0');
    }
    return stage_match(scope, text, shape, rank);
}

static int64_t value_of(struct stage *scope, const char *text)
{
    int64_t value = -1;

    cr_assert_eq(stage_value(scope, text, &value), TAPML_OK, "%s", status_message());
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
    struct stage scope;

    stage_init(&scope);
    define(&scope, "in", 6);
    define(&scope, "out", 4);
    cr_assert_eq(value_of(&scope, "2 * in * out"), 48);
    cr_assert_eq(value_of(&scope, "in-out - 1"), 1);
    cr_assert_eq(value_of(&scope, "(in + out) * (in - out) / 5"), 4);
    cr_assert_eq(value_of(&scope, " 12/in*2 "), 4);
    cr_assert_eq(value_of(&scope, "out - (in - (out - 1))"), 1);
    cr_assert_eq(value_of(&scope, "-out + in * -(2 - 1)"), -10);
    stage_release(&scope);
}

Test(expression, products_of_symbols_are_not_affine)
{
    struct stage scope;
    struct affine shape[2] = {tokens, capacity};
    uint32_t rank = 0;
    int64_t value = 0;

    stage_init(&scope);
    cr_assert_eq(stage_match(&scope, "T, C", shape, 2), TAPML_OK);
    cr_assert_eq(stage_shape(&scope, "T * C", shape, &rank), TAPML_INVALID);
    expect_message(stage_value(&scope, "T + C", &value), "'T + C' is no plain number");
    expect_message(stage_value(&scope, "T * missing", &value), "'missing' has no value");
    stage_release(&scope);
}

Test(expression, a_symbol_is_bound_once_and_then_compared)
{
    struct stage scope;

    stage_init(&scope);
    cr_assert_eq(match(&scope, "T, heads, width", "523"), TAPML_OK);
    cr_assert_eq(match(&scope, "T, width", "53"), TAPML_OK);
    expect_message(match(&scope, "T, width", "54"), "axis 1 is 4, 'width' is 3");
    expect_message(match(&scope, "T, heads * width", "57"), "axis 1 is 7, 'heads * width' is 6");
    expect_message(match(&scope, "T, width", "5"), "rank is 1, expected [T, width]");
    expect_message(match(&scope, "T, width", "535"), "rank is 3");
    expect_message(match(&scope, "T + later, later", "83"), "'later' has no value");
    stage_release(&scope);
}

Test(expression, symbols_of_the_graph_go_through)
{
    struct stage scope;
    struct affine state[3] = {capacity, affine_constant(2), affine_constant(8)};
    struct affine mask = {0, {1, 1, 0, 0}};
    const struct affine position = {0, {0, 1, 0, 0}};
    struct affine shape[TAPML_MAX_RANK];
    uint32_t rank = 0;
    const struct expression *range = NULL;
    int64_t begin = 0;
    int64_t end = 0;

    stage_init(&scope);
    stage_define(&scope, "position", &position);
    cr_assert_eq(stage_match(&scope, "C, heads, width", state, 3), TAPML_OK);
    cr_assert_eq(stage_match(&scope, "T", &tokens, 1), TAPML_OK);
    cr_assert_eq(stage_match(&scope, "position + T", &mask, 1), TAPML_OK);
    cr_assert_eq(stage_shape(&scope, "T, heads * width", shape, &rank), TAPML_OK);
    cr_assert_eq(rank, 2);
    cr_assert(affine_equal(&shape[0], &tokens));
    cr_assert_eq(shape[1].constant, 16);
    stage_release(&scope);

    stage_init(&scope);
    define(&scope, "position", 10);
    define(&scope, "T", 5);
    cr_assert_eq(stage_compile(&scope, "position .. position + T", &range), TAPML_OK);
    cr_assert(expression_is_range(range));
    cr_assert(expression_has(range, expression_find(&scope.names, "T")));
    cr_assert_eq(expression_range(&scope.values, range, &begin, &end), TAPML_OK);
    cr_assert_eq(begin, 10);
    cr_assert_eq(end, 15);
    stage_release(&scope);
}

Test(expression, leading_axes)
{
    struct stage scope;
    struct affine shape[TAPML_MAX_RANK];
    uint32_t rank = 0;

    stage_init(&scope);
    cr_assert_eq(match(&scope, "*rows, in", "234"), TAPML_OK);
    cr_assert_eq(value_of(&scope, "rows * in"), 24);
    cr_assert_eq(match(&scope, "*rows, 7", "237"), TAPML_OK);
    expect_message(match(&scope, "*rows, in", "264"), "axis 1 is 6, 'rows' is 3");
    expect_message(match(&scope, "*rows, in", "64"), "1 leading axes, '*rows' has 2");
    cr_assert_eq(stage_shape(&scope, "*rows, 9", shape, &rank), TAPML_OK);
    cr_assert_eq(rank, 3);
    cr_assert_eq(shape[1].constant, 3);
    cr_assert_eq(shape[2].constant, 9);
    stage_release(&scope);

    stage_init(&scope);
    cr_assert_eq(match(&scope, "*rows, in", "4"), TAPML_OK);
    cr_assert_eq(value_of(&scope, "rows"), 1);
    expect_message(match(&scope, "*rows, in", ""), "rank is 0");

    stage_release(&scope);
}

Test(expression, questions)
{
    struct stage scope;
    const struct expression *shape = NULL;
    const struct expression *other = NULL;

    stage_init(&scope);
    cr_assert_eq(stage_compile(&scope, "C, *rows, T + 1", &shape), TAPML_OK);
    cr_assert_eq(stage_compile(&scope, "C + 1, last", &other), TAPML_OK);
    cr_assert(expression_begins_with(shape, expression_find(&scope.names, "C")));
    cr_assert_not(expression_begins_with(other, expression_find(&scope.names, "C")));
    cr_assert(expression_has_rows(shape, expression_find(&scope.names, "rows")));
    cr_assert_not(expression_has_rows(shape, expression_find(&scope.names, "T")));
    cr_assert_not(expression_has(shape, expression_find(&scope.names, "last")));
    cr_assert_not(expression_is_range(shape));
    cr_assert_eq(expression_find(&scope.names, "nobody"), EXPRESSION_NONE);
    stage_release(&scope);
}

Test(expression, conditions)
{
    static const char text[] = "a ? b ? 1, 2 : 3 : 4, 5, 6";
    struct stage scope;

    stage_init(&scope);
    define(&scope, "a", 1);
    define(&scope, "b", 0);
    define(&scope, "transposed", 1);
    cr_assert_eq(match(&scope, text, "3"), TAPML_OK);
    cr_assert_eq(match(&scope, text, "12"), TAPML_INVALID);
    cr_assert_eq(match(&scope, "b ? 1 : a ? 2 : 3", "2"), TAPML_OK);
    cr_assert_eq(match(&scope, "transposed ? in, out : out, in", "68"), TAPML_OK);
    cr_assert_eq(value_of(&scope, "in"), 6);
    expect_message(match(&scope, "missing ? 1 : 2", "1"), "'missing' has no value");
    stage_release(&scope);
}

Test(expression, bounds)
{
    struct stage scope;
    struct affine shape[TAPML_MAX_RANK];
    uint32_t rank = 0;
    char name[3] = "aa";

    stage_init(&scope);
    for (unsigned i = 0; i < EXPRESSION_SYMBOLS_MAX; i++) {
        name[1] = (char)('a' + i);
        define(&scope, name, i);
    }
    expect_message(match(&scope, "one_more", "1"), "more than 24 symbols");
    expect_message(stage_shape(&scope, "1, 2, 3, 4, 5, 6, 7", shape, &rank), "more than 6 axes");
    stage_release(&scope);

    stage_init(&scope);
    expect_message(match(&scope, "a_name_that_is_much_too_long_for_a_symbol", "1"), "no name of 1");
    define(&scope, "big", INT64_MAX);
    cr_assert_eq(match(&scope, "big * 2", "1"), TAPML_INVALID);
    cr_assert_eq(match(&scope, "big / 0", "1"), TAPML_INVALID);
    stage_release(&scope);
}
