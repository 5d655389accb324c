// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/formulas.h"
#include "plugins/reference.h"

#include <tapml/ops.h>

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

struct kind {
    const tapml_op *op;
    double numbers[2];
};

static const struct kind kinds[] = {
    {&tapml_gelu, {0}},       {&tapml_gelu_tanh, {0}},   {&tapml_relu, {0}},
    {&tapml_sigmoid, {0}},    {&tapml_scale, {-0.375}},  {&tapml_softcap, {3}},
    {&tapml_clip, {-0.5, 2}}, {&tapml_clip, {-1e30, 0}}, {&tapml_softplus, {0}},
    {&tapml_tanh, {0}},
};

enum { KINDS = sizeof(kinds) / sizeof(*kinds) };

// The operand, the numbers, the output: in this order in each of these schemas.
static void check_kind(const struct kind *kind,
                       const struct operand_spec *x,
                       const struct operand_spec *y,
                       size_t count)
{
    double *expected = calloc(count, sizeof(*expected));
    struct op_fixture fixture = {.op = kind->op, .output = kind->op->n_params - 1};

    cr_assert_not_null(expected);
    for (uint32_t i = 1; i < fixture.output; i++) {
        fixture.arguments[i].f64 = kind->numbers[i - 1];
    }
    fixture.arguments[0].tensor = *x;
    fixture.arguments[fixture.output].tensor = *y;
    for (size_t i = 0; i < count; i++) {
        expected[i] = formulas_unary(kind->op->name, x->values[i], kind->numbers);
    }
    reference_check(&fixture, 1, expected, 1e-6);
    free(expected);
}

Test(reference_unary, every_kind_on_many_rows_and_with_any_strides)
{
    enum { ROWS = 7, WIDTH = 257, COUNT = ROWS * WIDTH };
    double *x = op_fixture_values(1, TAPML_F32, COUNT);
    const struct operand_spec dense = op_fixture_rows(TAPML_F32, ROWS, WIDTH, x);
    const struct operand_spec y = op_fixture_rows(TAPML_F32, ROWS, WIDTH, NULL);
    const struct operand_spec spread = op_fixture_spread(y, 3, 4);
    struct operand_spec turned = dense;

    turned.strided = true;
    turned.stride[0] = 3;
    turned.stride[1] = (int64_t)3 * ROWS;
    turned.lead = 1;
    for (size_t i = 0; i < KINDS; i++) {
        check_kind(&kinds[i], &dense, &y, COUNT);
        check_kind(&kinds[i], &turned, &spread, COUNT);
    }
    free(x);
}

// Far from zero, where a formula loses digits or overflows.
Test(reference_unary, large_and_odd_values)
{
    static const double x[] = {-0x1p99, -200, -9, -0.0, 0, 9, 200, 0x1p99};
    enum { COUNT = sizeof(x) / sizeof(*x) };
    const struct operand_spec y = op_fixture_row(TAPML_F32, COUNT, NULL);
    const struct operand_spec spec = op_fixture_row(TAPML_F32, COUNT, x);
    double computed[1];
    struct plugin *plugin = reference_open("f32", 1);

    for (size_t i = 0; i < KINDS; i++) {
        const double nan_value = NAN;
        struct op_fixture fixture = {.op = kinds[i].op, .output = kinds[i].op->n_params - 1};

        check_kind(&kinds[i], &spec, &y, COUNT);
        for (uint32_t p = 1; p < fixture.output; p++) {
            fixture.arguments[p].f64 = kinds[i].numbers[p - 1];
        }
        fixture.arguments[0].tensor = op_fixture_row(TAPML_F32, 1, &nan_value);
        fixture.arguments[fixture.output].tensor = op_fixture_row(TAPML_F32, 1, NULL);
        op_fixture_run(&fixture, plugin, computed);
        cr_assert(isnan(computed[0]), "%s", kinds[i].op->name);
    }
    reference_close(plugin);
}

static void
check_silu(const struct operand_spec *x, const struct operand_spec *y, size_t count, double limit)
{
    double *expected = calloc(count, sizeof(*expected));
    const struct op_fixture fixture = {
        .op = &tapml_silu,
        .output = TAPML_SILU_Y,
        .arguments = {{.tensor = *x}, {.tensor = *y}},
    };

    cr_assert_not_null(expected);
    formulas_silu(count, x->values, expected);
    reference_check(&fixture, 1, expected, limit);
    free(expected);
}

Test(reference_unary, silu_with_any_strides_and_on_many_rows)
{
    enum { ROWS = 70, WIDTH = 257, COUNT = ROWS * WIDTH };
    double *x = op_fixture_values(1, TAPML_F32, COUNT);
    struct operand_spec x_spec = op_fixture_rows(TAPML_F32, ROWS, WIDTH, x);
    const struct operand_spec y_spec = op_fixture_rows(TAPML_F32, ROWS, WIDTH, NULL);

    check_silu(&x_spec, &y_spec, COUNT, 1e-6);
    x_spec.strided = true;
    x_spec.stride[0] = 3;
    x_spec.stride[1] = (int64_t)3 * ROWS;
    x_spec.lead = 1;
    check_silu(&x_spec, &y_spec, COUNT, 1e-6);
    free(x);
}

Test(reference_unary, silu_within_two_units_in_the_last_place)
{
    enum { COUNT = 20001 };
    double x[COUNT], expected[COUNT], y[COUNT];
    struct plugin *plugin = reference_open("f32", 1);
    const struct op_fixture fixture = {
        .op = &tapml_silu,
        .output = TAPML_SILU_Y,
        .arguments = {{.tensor = op_fixture_row(TAPML_F32, COUNT, x)},
                      {.tensor = op_fixture_row(TAPML_F32, COUNT, NULL)}},
    };

    for (int i = 0; i < COUNT; i++) {
        x[i] = (float)(i * 0.008 - 80);
    }
    formulas_silu(COUNT, x, expected);
    op_fixture_run(&fixture, plugin, y);
    for (size_t i = 0; i < COUNT; i++) {
        cr_assert_leq(fabs(y[i] - expected[i]), fabs(expected[i]) * 0x1p-21, "at %g", x[i]);
    }
    reference_close(plugin);
}

Test(reference_unary, silu_of_large_and_of_odd_values)
{
    const double x[] = {-100, -1e30, 100, 1e30, 0, -0.0, INFINITY, NAN};
    double y[8];
    struct plugin *plugin = reference_open("f32", 1);
    const struct op_fixture fixture = {
        .op = &tapml_silu,
        .output = TAPML_SILU_Y,
        .arguments = {{.tensor = op_fixture_row(TAPML_F32, 8, x)},
                      {.tensor = op_fixture_row(TAPML_F32, 8, NULL)}},
    };

    op_fixture_run(&fixture, plugin, y);
    cr_assert(fabs(y[0]) < 1e-35);
    cr_assert_eq(y[1], 0);
    cr_assert_eq(y[2], 100);
    cr_assert_eq(y[3], (float)1e30);
    cr_assert_eq(y[4], 0);
    cr_assert_eq(y[5], 0);
    cr_assert_eq(y[6], INFINITY);
    cr_assert(isnan(y[7]));
    reference_close(plugin);
}
