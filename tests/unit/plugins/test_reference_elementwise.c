// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/formulas.h"
#include "plugins/reference.h"

#include <tapml/ops.h>

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

// The same operands for add and mul.
static void check_pair(const struct operand_spec *a,
                       const struct operand_spec *b,
                       const struct operand_spec *y,
                       size_t count)
{
    double *expected = calloc(count, sizeof(*expected));
    struct trial trial = {
        .op = &tapml_add,
        .output = TAPML_ADD_Y,
        .arguments = {{.tensor = *a}, {.tensor = *b}, {.tensor = *y}},
    };

    cr_assert_not_null(expected);
    formulas_add(count, a->values, b->values, expected);
    reference_check(&trial, 1, expected, 1e-6);
    trial.op = &tapml_mul;
    trial.output = TAPML_MUL_Y;
    formulas_mul(count, a->values, b->values, expected);
    reference_check(&trial, 1, expected, 1e-6);
    free(expected);
}

Test(reference_elementwise, add_and_mul_at_every_width)
{
    static const int64_t widths[] = {1, 3, 5, 7, 24, 80, 96, 128, 257};
    static const int64_t rows[] = {1, 2, 5, 33};

    for (size_t i = 0; i < (size_t)9 * 4; i++) {
        const int64_t width = widths[i / 4], count = rows[i % 4];
        const size_t values = (size_t)(width * count);
        double *a = trial_values(1, TAPML_F32, values), *b = trial_values(2, TAPML_F32, values);
        const struct operand_spec a_spec = trial_rows(TAPML_F32, count, width, a);
        const struct operand_spec b_spec = trial_rows(TAPML_F32, count, width, b);
        const struct operand_spec y_spec = trial_rows(TAPML_F32, count, width, NULL);

        check_pair(&a_spec, &b_spec, &y_spec, values);
        free(a);
        free(b);
    }
}

// a is a transposed matrix, b one value for each row, y has room between its rows.
Test(reference_elementwise, add_and_mul_with_any_strides)
{
    enum { ROWS = 5, WIDTH = 7, COUNT = ROWS * WIDTH };
    double *a = trial_values(1, TAPML_F32, COUNT), *b = trial_values(2, TAPML_F32, COUNT);
    struct operand_spec a_spec = trial_rows(TAPML_F32, ROWS, WIDTH, a);
    struct operand_spec b_spec = trial_rows(TAPML_F32, ROWS, WIDTH, b);
    const struct operand_spec y_spec = trial_spread(trial_rows(TAPML_F32, ROWS, WIDTH, NULL), 3, 4);

    for (size_t i = 0; i < COUNT; i++) {
        b[i] = b[i / WIDTH * WIDTH];
    }
    a_spec.strided = b_spec.strided = true;
    a_spec.stride[0] = 2;
    a_spec.stride[1] = (int64_t)2 * ROWS + 1;
    a_spec.lead = 1;
    b_spec.stride[0] = 3;
    b_spec.stride[1] = 0;
    check_pair(&a_spec, &b_spec, &y_spec, COUNT);
    check_pair(&b_spec, &a_spec, &y_spec, COUNT);
    free(a);
    free(b);
}

// One row for all, as a bias; four axes, and one.
Test(reference_elementwise, add_and_mul_of_one_and_of_four_axes)
{
    enum { COUNT = 2 * 3 * 4 * 5 };
    double *a = trial_values(1, TAPML_F32, COUNT), *b = trial_values(2, TAPML_F32, COUNT);
    struct operand_spec specs[3];

    for (size_t i = 0; i < COUNT; i++) {
        b[i] = b[i % 5];
    }
    for (size_t i = 0; i < 3; i++) {
        specs[i] = (struct operand_spec){.dtype = TAPML_F32, .rank = 4, .shape = {2, 3, 4, 5}};
    }
    specs[0].values = a;
    specs[1].values = b;
    specs[1].strided = true;
    specs[1].stride[3] = 1;
    check_pair(&specs[0], &specs[1], &specs[2], COUNT);
    specs[0] = trial_row(TAPML_F32, 5, a);
    specs[1] = trial_row(TAPML_F32, 5, b);
    specs[2] = trial_row(TAPML_F32, 5, NULL);
    check_pair(&specs[0], &specs[1], &specs[2], 5);
    free(a);
    free(b);
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

Test(reference_elementwise, silu_with_any_strides_and_on_many_rows)
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

Test(reference_elementwise, silu_within_two_units_in_the_last_place)
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

Test(reference_elementwise, silu_of_large_and_of_odd_values)
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
