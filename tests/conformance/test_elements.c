// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
// Ops that compute one element from those at the same place: any strides, up to six axes.

#include "device.h"
#include "harness/formulas.h"
#include "harness/sanitized.h"

#include <tapml/ops.h>

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static struct plugin *device;

static void open_device(void)
{
    device = device_open();
}

static void close_device(void)
{
    device_close(device);
}

TestSuite(elements, .init = open_device, .fini = close_device, .timeout = 300);

enum layout {
    DENSE,
    SPREAD, // Behind three elements, every axis with a gap: nothing merges, nothing is by four.
    SPREAD_FOUR,  // The same in fours.
    REVERSED,     // The first axis is the fastest.
    REPEAT_LAST,  // Stride 0 on the last axis,
    REPEAT_FIRST, // or on the first.
};

static struct operand_spec lay_out(struct operand_spec spec, enum layout layout)
{
    int64_t stride = 1;

    if (layout == SPREAD || layout == SPREAD_FOUR) {
        return op_fixture_spread(spec, layout == SPREAD ? 3 : 4, layout == SPREAD ? 2 : 4);
    }
    for (uint32_t i = 0; i < spec.rank; i++) {
        const uint32_t axis = layout == REVERSED ? i : spec.rank - 1 - i;
        const int is_repeated = (layout == REPEAT_LAST && axis == spec.rank - 1) ||
                                (layout == REPEAT_FIRST && axis == 0);

        spec.stride[axis] = is_repeated ? 0 : stride;
        stride *= is_repeated ? 1 : spec.shape[axis];
    }
    spec.strided = true;
    return spec;
}

// The values of an operand in a layout: where an axis is repeated, all are the first.
static double *values_of(const struct operand_spec *spec, enum layout layout, uint64_t seed)
{
    const size_t last = (size_t)spec->shape[spec->rank - 1];
    size_t count = 1;

    for (uint32_t axis = 0; axis < spec->rank; axis++) {
        count *= (size_t)spec->shape[axis];
    }
    double *values = op_fixture_values(seed, spec->dtype, count);
    const size_t inner = count / (size_t)spec->shape[0];

    for (size_t i = 0; i < count; i++) {
        if (spec->dtype == TAPML_I32) {
            values[i] = floor(values[i] * 1e8);
        }
        if (layout == REPEAT_LAST) {
            values[i] = values[i - i % last];
        } else if (layout == REPEAT_FIRST) {
            values[i] = values[i % inner];
        }
    }
    return values;
}

static size_t count_of(const struct operand_spec *spec)
{
    size_t count = 1;

    for (uint32_t axis = 0; axis < spec->rank; axis++) {
        count *= (size_t)spec->shape[axis];
    }
    return count;
}

static void
describe(const struct operand_spec *shape, enum layout a, enum layout b, char *name, size_t size)
{
    (void)snprintf(name, size, "rank %u last axis %ld layouts %d %d", shape->rank,
                   (long)shape->shape[shape->rank - 1], (int)a, (int)b);
}

static void check_unary(const tapml_op *op, struct operand_spec shape, enum layout x, enum layout y)
{
    double *values = values_of(&shape, x, 11), *expected = device_array(count_of(&shape));
    struct op_fixture fixture = {.op = op, .output = 1};
    char name[64];

    fixture.arguments[0].tensor = lay_out(shape, x);
    fixture.arguments[0].tensor.values = values;
    fixture.arguments[1].tensor = lay_out(shape, y);
    for (size_t i = 0; i < count_of(&shape); i++) {
        expected[i] = values[i];
    }
    if (op == &tapml_silu) {
        formulas_silu(count_of(&shape), values, expected);
    }
    describe(&shape, x, y, name, sizeof(name));
    device_check_each(device, &fixture, count_of(&shape), expected, op == &tapml_silu ? 16 : 0,
                      name);
    free(values);
}

static void check_binary(
    const tapml_op *op, struct operand_spec shape, enum layout a, enum layout b, enum layout y)
{
    double *av = values_of(&shape, a, 21), *bv = values_of(&shape, b, 22);
    double *expected = device_array(count_of(&shape));
    struct op_fixture fixture = {.op = op, .output = 2};
    char name[64];

    fixture.arguments[0].tensor = lay_out(shape, a);
    fixture.arguments[0].tensor.values = av;
    fixture.arguments[1].tensor = lay_out(shape, b);
    fixture.arguments[1].tensor.values = bv;
    fixture.arguments[2].tensor = lay_out(shape, y);
    if (op == &tapml_add) {
        formulas_add(count_of(&shape), av, bv, expected);
    } else if (op == &tapml_sub) {
        formulas_sub(count_of(&shape), av, bv, expected);
    } else {
        formulas_mul(count_of(&shape), av, bv, expected);
    }
    for (size_t i = 0; i < count_of(&shape); i++) {
        expected[i] = (float)expected[i]; // One operation, rounded once.
    }
    describe(&shape, a, b, name, sizeof(name));
    device_check_each(device, &fixture, count_of(&shape), expected, 0, name);
    free(av);
    free(bv);
}

static const struct operand_spec shapes[] = {
    {.dtype = TAPML_F32, .rank = 1, .shape = {4}},
    {.dtype = TAPML_F32, .rank = 2, .shape = {1, 352}},
    {.dtype = TAPML_F32, .rank = 2, .shape = {70, 33}},
    {.dtype = TAPML_F32, .rank = 3, .shape = {3, 5, 24}},
    {.dtype = TAPML_F32, .rank = 4, .shape = {2, 3, 5, 8}},
    {.dtype = TAPML_F32, .rank = 5, .shape = {2, 1, 3, 2, 7}},
    {.dtype = TAPML_F32, .rank = 6, .shape = {2, 3, 2, 3, 2, 4}},
};

enum { SHAPES = sizeof(shapes) / sizeof(*shapes) };

static void check_layouts(const tapml_op *op, int is_binary)
{
    for (int i = 0; i < SHAPES; i++) {
        for (enum layout layout = DENSE; layout <= REPEAT_FIRST; layout++) {
            const enum layout y = layout == SPREAD || layout == SPREAD_FOUR ? layout : DENSE;

            if (is_binary) {
                check_binary(op, shapes[i], DENSE, layout, y);
                check_binary(op, shapes[i], layout, REVERSED, SPREAD);
            } else {
                check_unary(op, shapes[i], layout, y);
                check_unary(op, shapes[i], layout, SPREAD);
            }
        }
    }
}

static void check_widths(const tapml_op *op, int is_binary)
{
    static const int64_t rows[] = {1, 2, 3, 5, 19};

    for (int i = 0; i < DEVICE_WIDTH_COUNT; i++) {
        const struct operand_spec shape =
            op_fixture_rows(TAPML_F32, rows[i % 5], device_widths[i], NULL);

        if (is_binary) {
            check_binary(op, shape, DENSE, SPREAD, SPREAD);
            check_binary(op, shape, DENSE, DENSE, DENSE);
        } else {
            check_unary(op, shape, SPREAD, SPREAD_FOUR);
            check_unary(op, shape, DENSE, DENSE);
        }
    }
}

Test(elements, add)
{
    check_layouts(&tapml_add, 1);
    check_widths(&tapml_add, 1);
}

Test(elements, sub)
{
    check_layouts(&tapml_sub, 1);
    check_widths(&tapml_sub, 1);
}

Test(elements, mul)
{
    check_layouts(&tapml_mul, 1);
    check_widths(&tapml_mul, 1);
}

Test(elements, silu)
{
    check_layouts(&tapml_silu, 0);
    check_widths(&tapml_silu, 0);
}

// What exp overflows at, and what it does not reach.
Test(elements, silu_of_large_values)
{
    const double values[] = {-1e30, -200, -88, -87, -20, -0.0, 1e-30, 20, 88, 200, 1e30, NAN};
    double *expected = device_array(12);
    struct op_fixture fixture = {.op = &tapml_silu, .output = 1};

    fixture.arguments[0].tensor = op_fixture_rows(TAPML_F32, 1, 12, values);
    fixture.arguments[1].tensor = op_fixture_rows(TAPML_F32, 1, 12, NULL);
    formulas_silu(12, values, expected);
    for (int i = 0; i < 12; i++) {
        expected[i] = fabs(expected[i]) < 1e-36 ? 0 : expected[i]; // Below the normal numbers: any.
    }
    double computed[12];

    op_fixture_run(&fixture, device, computed);
    for (int i = 0; i < 12; i++) {
        const double distance = fabs(expected[i] - computed[i]);

        cr_expect(isnan(expected[i]) ? isnan(computed[i])
                                     : distance <= 2e-6 * fabs(expected[i]) + 1e-35,
                  "silu(%g) is %g, expected %g", values[i], computed[i], expected[i]);
    }
    free(expected);
}

// Every value has all its digits, however small it is; `number` is the op's own, if it has one.
static void check_digits(const tapml_op *op, const double *number)
{
    enum { COUNT = 15 };
    const double values[COUNT] = {-80,   -40, -20, -10, -1, -0.0, 1e-30, 1,
                                  -1e-3, 0.2, 10,  20,  40, 200,  1e30};
    double *expected = device_array(COUNT);
    struct op_fixture fixture = {.op = op, .output = op->n_params - 1};
    struct operand_spec spec = op_fixture_rows(TAPML_F32, 1, COUNT, NULL);

    fixture.arguments[fixture.output].tensor = spec;
    spec.values = values;
    fixture.arguments[0].tensor = spec;
    if (number) {
        fixture.arguments[1].f64 = *number;
    }
    for (int i = 0; i < COUNT; i++) {
        expected[i] = formulas_unary(op->name, values[i], number);
    }
    device_check_each(device, &fixture, COUNT, expected, 16, "digits far from 0 and near it");
}

Test(elements, digits)
{
    check_digits(&tapml_softplus, NULL); // Where exp(x) is far below 1, and where it overflows.
    check_digits(&tapml_tanh, NULL);
    check_digits(&tapml_softcap, &(const double){30});
}

// Ops of one operand and up to two numbers; `limit` is in units in the last place.
static void check_numbers(const tapml_op *op, const double *numbers, double limit)
{
    static const enum layout layouts[] = {DENSE, SPREAD, SPREAD_FOUR, REVERSED, REPEAT_LAST};

    for (int i = 0; i < SHAPES; i++) {
        const size_t count = count_of(&shapes[i]);
        const enum layout layout = layouts[i % 5];
        struct op_fixture fixture = {.op = op, .output = op->n_params - 1};
        double *values = values_of(&shapes[i], layout, 31), *expected = device_array(count);

        fixture.arguments[0].tensor = lay_out(shapes[i], layout);
        fixture.arguments[0].tensor.values = values;
        fixture.arguments[fixture.output].tensor = lay_out(shapes[i], i % 2 != 0 ? SPREAD : DENSE);
        for (uint32_t p = 1; p < fixture.output; p++) {
            fixture.arguments[p].f64 = numbers[p - 1];
        }
        for (size_t k = 0; k < count; k++) {
            expected[k] = formulas_unary(op->name, values[k], numbers);
        }
        if (limit < 1) { // Of the root mean square.
            device_check(device, &fixture, count, expected, limit, op->name);
        } else {
            device_check_each(device, &fixture, count, expected, limit, op->name);
        }
        free(values);
    }
}

Test(elements, other_activations)
{
    check_numbers(&tapml_gelu, NULL, 1e-6);
    check_numbers(&tapml_gelu_tanh, NULL, 1e-6);
    check_numbers(&tapml_relu, NULL, 1);
    check_numbers(&tapml_sigmoid, NULL, 16);
    check_numbers(&tapml_tanh, NULL, 1e-6);
    check_numbers(&tapml_exp, NULL, 16);
    check_numbers(&tapml_softplus, NULL, 16);
}

Test(elements, with_numbers)
{
    check_numbers(&tapml_scale, (const double[]){-0.375}, 1);
    check_numbers(&tapml_softcap, (const double[]){3}, 1e-6);
    check_numbers(&tapml_clip, (const double[]){-0.5, 2}, 1);
}

Test(elements, copy)
{
    check_layouts(&tapml_copy, 0);
    check_widths(&tapml_copy, 0);
}

Test(elements, copy_of_integers)
{
    for (int i = 0; i < SHAPES; i++) {
        struct operand_spec shape = shapes[i];

        shape.dtype = TAPML_I32;
        check_unary(&tapml_copy, shape, REVERSED, SPREAD);
        check_unary(&tapml_copy, shape, DENSE, DENSE);
    }
}

// One operand spread or repeated along an outer axis, the other one dense; y spread.
static void check_concat(size_t heads, size_t left, size_t right, int is_repeated)
{
    enum { TOKENS = 5 };
    const size_t rows = TOKENS * heads, width = left + right;
    double *a = op_fixture_values(7, TAPML_F32, rows * left);
    double *b = op_fixture_values(8, TAPML_F32, rows * right),
           *expected = device_array(rows * width);
    struct op_fixture fixture = {.op = &tapml_concat, .output = TAPML_CONCAT_Y};
    struct operand_spec *second = &fixture.arguments[TAPML_CONCAT_B].tensor;

    fixture.arguments[TAPML_CONCAT_A].tensor =
        op_fixture_spread(op_fixture_heads(TAPML_F32, TOKENS, (int64_t)heads, (int64_t)left, a),
                          is_repeated ? 3 : 4, 1);
    *second = op_fixture_heads(TAPML_F32, TOKENS, (int64_t)heads, (int64_t)right, b);
    if (is_repeated) { // All heads of a token have the same row.
        second->strided = true;
        second->stride[0] = (int64_t)right;
        second->stride[1] = 0;
        second->stride[2] = 1;
        for (size_t r = 0; r < rows; r++) {
            memmove(b + r * right, b + r / heads * right, right * sizeof(*b));
        }
    }
    fixture.arguments[TAPML_CONCAT_Y].tensor = op_fixture_spread(
        op_fixture_heads(TAPML_F32, TOKENS, (int64_t)heads, (int64_t)width, NULL), 4, is_repeated);
    formulas_concat(rows, left, right, a, b, expected);
    device_check_each(device, &fixture, rows * width, expected, 0, "concat");
    free(a);
    free(b);
}

Test(elements, concat)
{
    static const size_t sizes[][3] = {{1, 1, 1}, {4, 12, 8}, {3, 5, 7}, {2, 128, 64}, {6, 4, 33}};

    for (size_t i = 0; i < 5; i++) {
        check_concat(sizes[i][0], sizes[i][1], sizes[i][2], 0);
        check_concat(sizes[i][0], sizes[i][1], sizes[i][2], 1);
    }
}

// More workgroups than an axis of a grid promises. With a sanitizer a driver that allocates for
// each workgroup takes a minute for so many.
Test(elements, folded_grid)
{
    const struct operand_spec shape =
        op_fixture_rows(TAPML_F32, SANITIZED_COUNT(70001, 1000), 61, NULL);

    check_binary(&tapml_add, shape, DENSE, SPREAD, DENSE);
}
