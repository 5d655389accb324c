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
    struct trial trial = {.op = kind->op, .output = kind->op->n_params - 1};

    cr_assert_not_null(expected);
    for (uint32_t i = 1; i < trial.output; i++) {
        trial.arguments[i].f64 = kind->numbers[i - 1];
    }
    trial.arguments[0].tensor = *x;
    trial.arguments[trial.output].tensor = *y;
    for (size_t i = 0; i < count; i++) {
        expected[i] = formulas_unary(kind->op->name, x->values[i], kind->numbers);
    }
    reference_check(&trial, 1, expected, 1e-6);
    free(expected);
}

Test(reference_unary, every_kind_on_many_rows_and_with_any_strides)
{
    enum { ROWS = 7, WIDTH = 257, COUNT = ROWS * WIDTH };
    double *x = trial_values(1, TAPML_F32, COUNT);
    const struct operand_spec dense = trial_rows(TAPML_F32, ROWS, WIDTH, x);
    const struct operand_spec y = trial_rows(TAPML_F32, ROWS, WIDTH, NULL);
    const struct operand_spec spread = trial_spread(y, 3, 4);
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
    const struct operand_spec y = trial_row(TAPML_F32, COUNT, NULL);
    const struct operand_spec spec = trial_row(TAPML_F32, COUNT, x);
    double computed[1];
    struct plugin *plugin = reference_open("f32", 1);

    for (size_t i = 0; i < KINDS; i++) {
        const double nan_value = NAN;
        struct trial trial = {.op = kinds[i].op, .output = kinds[i].op->n_params - 1};

        check_kind(&kinds[i], &spec, &y, COUNT);
        for (uint32_t p = 1; p < trial.output; p++) {
            trial.arguments[p].f64 = kinds[i].numbers[p - 1];
        }
        trial.arguments[0].tensor = trial_row(TAPML_F32, 1, &nan_value);
        trial.arguments[trial.output].tensor = trial_row(TAPML_F32, 1, NULL);
        trial_run(&trial, plugin, computed);
        cr_assert(isnan(computed[0]), "%s", kinds[i].op->name);
    }
    reference_close(plugin);
}

static void
check_silu(const struct operand_spec *x, const struct operand_spec *y, size_t count, double limit)
{
    double *expected = calloc(count, sizeof(*expected));
    const struct trial trial = {
        .op = &tapml_silu,
        .output = TAPML_SILU_Y,
        .arguments = {{.tensor = *x}, {.tensor = *y}},
    };

    cr_assert_not_null(expected);
    formulas_silu(count, x->values, expected);
    reference_check(&trial, 1, expected, limit);
    free(expected);
}

Test(reference_unary, silu_with_any_strides_and_on_many_rows)
{
    enum { ROWS = 70, WIDTH = 257, COUNT = ROWS * WIDTH };
    double *x = trial_values(1, TAPML_F32, COUNT);
    struct operand_spec x_spec = trial_rows(TAPML_F32, ROWS, WIDTH, x);
    const struct operand_spec y_spec = trial_rows(TAPML_F32, ROWS, WIDTH, NULL);

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
    const struct trial trial = {
        .op = &tapml_silu,
        .output = TAPML_SILU_Y,
        .arguments = {{.tensor = trial_row(TAPML_F32, COUNT, x)},
                      {.tensor = trial_row(TAPML_F32, COUNT, NULL)}},
    };

    for (int i = 0; i < COUNT; i++) {
        x[i] = (float)(i * 0.008 - 80);
    }
    formulas_silu(COUNT, x, expected);
    trial_run(&trial, plugin, y);
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
    const struct trial trial = {
        .op = &tapml_silu,
        .output = TAPML_SILU_Y,
        .arguments = {{.tensor = trial_row(TAPML_F32, 8, x)},
                      {.tensor = trial_row(TAPML_F32, 8, NULL)}},
    };

    trial_run(&trial, plugin, y);
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
