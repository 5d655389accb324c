// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/formulas.h"
#include "plugins/reference.h"

#include <tapml/ops.h>

#include <criterion/criterion.h>
#include <stdlib.h>

// The same operands for add, sub and mul.
static void check_pair(const struct operand_spec *a,
                       const struct operand_spec *b,
                       const struct operand_spec *y,
                       size_t count)
{
    double *expected = calloc(count, sizeof(*expected));
    struct op_fixture fixture = {
        .op = &tapml_add,
        .output = TAPML_ADD_Y,
        .arguments = {{.tensor = *a}, {.tensor = *b}, {.tensor = *y}},
    };

    cr_assert_not_null(expected);
    formulas_add(count, a->values, b->values, expected);
    reference_check(&fixture, 1, expected, 1e-6);
    fixture.op = &tapml_sub;
    fixture.output = TAPML_SUB_Y;
    formulas_sub(count, a->values, b->values, expected);
    reference_check(&fixture, 1, expected, 1e-6);
    fixture.op = &tapml_mul;
    fixture.output = TAPML_MUL_Y;
    formulas_mul(count, a->values, b->values, expected);
    reference_check(&fixture, 1, expected, 1e-6);
    free(expected);
}

Test(reference_elementwise, add_sub_and_mul_at_every_width)
{
    static const int64_t widths[] = {1, 3, 5, 7, 24, 80, 96, 128, 257};
    static const int64_t rows[] = {1, 2, 5, 33};

    for (size_t i = 0; i < (size_t)9 * 4; i++) {
        const int64_t width = widths[i / 4], count = rows[i % 4];
        const size_t values = (size_t)(width * count);
        double *a = op_fixture_values(1, TAPML_F32, values),
               *b = op_fixture_values(2, TAPML_F32, values);
        const struct operand_spec a_spec = op_fixture_rows(TAPML_F32, count, width, a);
        const struct operand_spec b_spec = op_fixture_rows(TAPML_F32, count, width, b);
        const struct operand_spec y_spec = op_fixture_rows(TAPML_F32, count, width, NULL);

        check_pair(&a_spec, &b_spec, &y_spec, values);
        free(a);
        free(b);
    }
}

// a is a transposed matrix, b one value for each row, y has room between its rows.
Test(reference_elementwise, add_sub_and_mul_with_any_strides)
{
    enum { ROWS = 5, WIDTH = 7, COUNT = ROWS * WIDTH };
    double *a = op_fixture_values(1, TAPML_F32, COUNT), *b = op_fixture_values(2, TAPML_F32, COUNT);
    struct operand_spec a_spec = op_fixture_rows(TAPML_F32, ROWS, WIDTH, a);
    struct operand_spec b_spec = op_fixture_rows(TAPML_F32, ROWS, WIDTH, b);
    const struct operand_spec y_spec =
        op_fixture_spread(op_fixture_rows(TAPML_F32, ROWS, WIDTH, NULL), 3, 4);

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
Test(reference_elementwise, add_sub_and_mul_of_one_and_of_four_axes)
{
    enum { COUNT = 2 * 3 * 4 * 5 };
    double *a = op_fixture_values(1, TAPML_F32, COUNT), *b = op_fixture_values(2, TAPML_F32, COUNT);
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
    specs[0] = op_fixture_row(TAPML_F32, 5, a);
    specs[1] = op_fixture_row(TAPML_F32, 5, b);
    specs[2] = op_fixture_row(TAPML_F32, 5, NULL);
    check_pair(&specs[0], &specs[1], &specs[2], 5);
    free(a);
    free(b);
}
