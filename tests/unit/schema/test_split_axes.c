// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"
#include "schema/split_axes.h"

#include <tapml/ops.h>

#include <criterion/criterion.h>

static struct arena *arena;

static void begin(void)
{
    arena = arena_create();
    cr_assert_not_null(arena);
}

static void end(void)
{
    arena_destroy(arena);
}

TestSuite(split_axes, .init = begin, .fini = end);

static const struct compiled_op *compile(const tapml_op *op)
{
    const struct compiled_op *schema = NULL;
    cr_assert_eq(compiled_create(op, arena, &schema), TAPML_OK, "%s", status_message());
    return schema;
}

// The arguments of a product, of which the rank counts, and whether its weight is transposed.
static void describe(struct infer_argument *arguments, int64_t transposed)
{
    static const uint32_t ranks[] = {3, 2, 1, 0, 3};
    for (uint32_t p = 0; p < 5; p++) {
        arguments[p] = (struct infer_argument){.is_present = 1, .rank = ranks[p]};
    }
    arguments[TAPML_LINEAR_TRANSPOSED].i = affine_constant(transposed);
}

static void expect_axes(const struct compiled_op *schema,
                        uint32_t rule,
                        const struct infer_argument *arguments,
                        uint32_t param,
                        uint32_t first,
                        uint32_t count)
{
    const struct split_axes axes = split_axes_find(schema, &schema->splits[rule], arguments, param);
    cr_expect_eq(axes.count, count, "param %u", param);
    cr_expect(count == 0 || axes.first == first, "param %u: axis %u", param, axes.first);
}

Test(split_axes, axes_are_found_in_the_shapes_of_a_call)
{
    const struct compiled_op *linear = compile(&tapml_linear);
    struct infer_argument arguments[5];
    describe(arguments, 0);
    expect_axes(linear, 0, arguments, TAPML_LINEAR_X, 0, 0);
    expect_axes(linear, 0, arguments, TAPML_LINEAR_W, 0, 1);
    expect_axes(linear, 0, arguments, TAPML_LINEAR_B, 0, 1);
    expect_axes(linear, 0, arguments, TAPML_LINEAR_Y, 2, 1);
    expect_axes(linear, 1, arguments, TAPML_LINEAR_X, 2, 1);
    expect_axes(linear, 1, arguments, TAPML_LINEAR_W, 1, 1);
    expect_axes(linear, 1, arguments, TAPML_LINEAR_B, 0, 0);
    expect_axes(linear, 1, arguments, TAPML_LINEAR_Y, 0, 0);
    describe(arguments, 1);
    expect_axes(linear, 0, arguments, TAPML_LINEAR_W, 1, 1);
    expect_axes(linear, 1, arguments, TAPML_LINEAR_W, 0, 1);
}

Test(split_axes, a_symbol_of_leading_axes_stands_for_each)
{
    const struct compiled_op *norm = compile(&tapml_rms_norm);
    struct infer_argument arguments[5] = {{.rank = 4}, {.rank = 1}, {0}, {0}, {.rank = 4}};
    expect_axes(norm, 0, arguments, TAPML_RMS_NORM_X, 0, 3);
    expect_axes(norm, 0, arguments, TAPML_RMS_NORM_WEIGHT, 0, 0);
    expect_axes(norm, 0, arguments, TAPML_RMS_NORM_Y, 0, 3);
}
