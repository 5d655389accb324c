// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/formulas.h"
#include "plugins/reference.h"

#include <tapml/ops.h>

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

struct norm {
    size_t rows, width;
    uint32_t weight_dtype; // 0 is no weight.
    double eps, offset;
    double *x, *weight, *expected;
    struct op_fixture fixture;
};

static void norm_init(struct norm *norm)
{
    const int64_t rows = (int64_t)norm->rows, width = (int64_t)norm->width;
    struct op_fixture_argument *arguments = norm->fixture.arguments;

    norm->x = op_fixture_values(1, TAPML_F32, norm->rows * norm->width);
    norm->weight = op_fixture_values(2, norm->weight_dtype, norm->width);
    norm->expected = calloc(norm->rows * norm->width, sizeof(double));
    cr_assert_not_null(norm->expected);

    const struct formulas_rms_norm op = {
        .rows = norm->rows,
        .width = norm->width,
        .x = norm->x,
        .weight = norm->weight_dtype != 0 ? norm->weight : NULL,
        .eps = norm->eps,
        .offset = norm->offset,
    };

    formulas_rms_norm(&op, norm->expected);
    norm->fixture.op = &tapml_rms_norm;
    norm->fixture.output = TAPML_RMS_NORM_Y;
    arguments[TAPML_RMS_NORM_X].tensor = op_fixture_rows(TAPML_F32, rows, width, norm->x);
    if (norm->weight_dtype != 0) {
        arguments[TAPML_RMS_NORM_WEIGHT].tensor =
            op_fixture_row(norm->weight_dtype, width, norm->weight);
    }
    arguments[TAPML_RMS_NORM_EPS].f64 = norm->eps;
    arguments[TAPML_RMS_NORM_OFFSET].f64 = norm->offset;
    arguments[TAPML_RMS_NORM_Y].tensor = op_fixture_rows(TAPML_F32, rows, width, NULL);
}

static void norm_check(struct norm *norm)
{
    reference_check(&norm->fixture, norm->rows, norm->expected, 5e-5);
    free(norm->x);
    free(norm->weight);
    free(norm->expected);
}

Test(reference_norm, every_width)
{
    static const size_t widths[] = {1, 3, 5, 7, 24, 80, 96, 128, 257, 1000};
    static const size_t rows[] = {1, 2, 5, 33};

    for (size_t i = 0; i < (size_t)10 * 4; i++) {
        struct norm norm = {
            .rows = rows[i % 4],
            .width = widths[i / 4],
            .weight_dtype = TAPML_F32,
            .eps = 1e-5,
        };

        norm_init(&norm);
        norm_check(&norm);
    }
}

Test(reference_norm, every_weight_and_offset)
{
    static const uint32_t dtypes[] = {0, TAPML_F32, TAPML_F16, TAPML_BF16};

    for (size_t i = 0; i < (size_t)4 * 2; i++) {
        struct norm norm = {
            .rows = 3,
            .width = 257,
            .weight_dtype = dtypes[i / 2],
            .eps = 0.25,
            .offset = (double)(i % 2),
        };

        norm_init(&norm);
        norm_check(&norm);
    }
}

Test(reference_norm, rows_may_lie_anywhere)
{
    struct norm norm = {.rows = 6, .width = 24, .weight_dtype = TAPML_BF16, .eps = 1e-6};
    struct op_fixture_argument *arguments = norm.fixture.arguments;

    norm_init(&norm);
    arguments[TAPML_RMS_NORM_X].tensor =
        op_fixture_spread(op_fixture_heads(TAPML_F32, 2, 3, 24, norm.x), 3, 5);
    arguments[TAPML_RMS_NORM_WEIGHT].tensor.lead = 5;
    arguments[TAPML_RMS_NORM_Y].tensor =
        op_fixture_spread(op_fixture_heads(TAPML_F32, 2, 3, 24, NULL), 1, 2);
    norm_check(&norm);
}

Test(reference_norm, zeros_and_what_is_not_finite)
{
    struct norm norm = {.rows = 3, .width = 24, .eps = 1e-6};

    norm_init(&norm);
    for (size_t i = 0; i < 24; i++) {
        norm.x[i] = 0;
        norm.expected[i] = 0;
        norm.expected[24 + i] = NAN;
    }
    norm.x[24 + 7] = NAN;
    norm_check(&norm);
}

Test(reference_norm, threads_share_the_rows)
{
    struct norm norm = {.rows = 64, .width = 257, .eps = 1e-6};
    struct plugin *plugin = reference_open("f32", 3);
    double *y = calloc((size_t)64 * 257, sizeof(*y));

    norm_init(&norm);
    op_fixture_run(&norm.fixture, plugin, y);
    cr_assert_gt(plugin_range_count(plugin), 1);
    reference_close(plugin);
    norm_check(&norm);
    free(y);
}

// The order of each device, term by term, in plain float.
Test(reference_norm, orders_are_what_they_are_called)
{
    enum { WIDTH = 3001 };
    static const char *const devices[] = {"f32", "f32-reversed", "f32-blocked"};
    struct norm norm = {.rows = 1, .width = WIDTH};
    float sums[3] = {0}, roots[3], block = 0;
    double y[WIDTH];

    norm_init(&norm);
    for (size_t i = 0; i < WIDTH; i++) {
        const float value = (float)norm.x[i], mirrored = (float)norm.x[WIDTH - 1 - i];

        sums[0] += value * value;
        sums[1] += mirrored * mirrored;
        block += value * value;
        if (i % 32 == 31 || i == WIDTH - 1) {
            sums[2] += block;
            block = 0;
        }
    }
    for (size_t device = 0; device < 3; device++) {
        roots[device] = sqrtf(sums[device] / WIDTH);
    }
    cr_assert(roots[0] != roots[1] && roots[0] != roots[2] && roots[1] != roots[2]);
    for (size_t device = 0; device < 3; device++) {
        struct plugin *plugin = reference_open(devices[device], 1);

        op_fixture_run(&norm.fixture, plugin, y);
        for (size_t i = 0; i < WIDTH; i++) {
            cr_assert_eq((float)y[i], (float)norm.x[i] / roots[device]);
        }
        reference_close(plugin);
    }
    norm_check(&norm);
}

static void check_layer_norm(size_t rows, size_t width, uint32_t weight, uint32_t bias, int spreads)
{
    double *x = op_fixture_values(1, TAPML_F32, rows * width);
    double *w = weight != 0 ? op_fixture_values(2, weight, width) : NULL;
    double *b = bias != 0 ? op_fixture_values(3, bias, width) : NULL;
    double *expected = calloc(rows * width, sizeof(*expected));
    struct op_fixture fixture = {.op = &tapml_layer_norm, .output = TAPML_LAYER_NORM_Y};
    struct op_fixture_argument *arguments = fixture.arguments;

    cr_assert_not_null(expected);
    for (size_t i = 0; i < rows * width; i++) {
        x[i] = (float)(x[i] + 3); // A mean that matters.
    }
    arguments[TAPML_LAYER_NORM_X].tensor =
        op_fixture_rows(TAPML_F32, (int64_t)rows, (int64_t)width, x);
    arguments[TAPML_LAYER_NORM_Y].tensor =
        op_fixture_rows(TAPML_F32, (int64_t)rows, (int64_t)width, NULL);
    if (w != NULL) {
        arguments[TAPML_LAYER_NORM_WEIGHT].tensor = op_fixture_row(weight, (int64_t)width, w);
    }
    if (b != NULL) {
        arguments[TAPML_LAYER_NORM_BIAS].tensor = op_fixture_row(bias, (int64_t)width, b);
    }
    if (spreads) {
        arguments[TAPML_LAYER_NORM_X].tensor =
            op_fixture_spread(arguments[TAPML_LAYER_NORM_X].tensor, 3, 5);
        arguments[TAPML_LAYER_NORM_Y].tensor =
            op_fixture_spread(arguments[TAPML_LAYER_NORM_Y].tensor, 1, 2);
    }
    arguments[TAPML_LAYER_NORM_EPS].f64 = 0.125;
    arguments[TAPML_LAYER_NORM_OFFSET].f64 = spreads;
    formulas_layer_norm(&(struct formulas_layer_norm){rows, width, x, w, b, 0.125, (double)spreads},
                        expected);
    reference_check(&fixture, rows, expected, 5e-5);
    free(x);
    free(w);
    free(b);
    free(expected);
}

Test(reference_norm, layer_norm)
{
    static const size_t widths[] = {1, 3, 7, 24, 80, 128, 257, 1000};
    static const uint32_t dtypes[] = {TAPML_F32, 0, TAPML_BF16, TAPML_F16};

    for (size_t i = 0; i < 8; i++) {
        check_layer_norm(1 + i, widths[i], dtypes[i % 4], dtypes[i / 2 % 4], i % 2 != 0);
        check_layer_norm(5, widths[i], dtypes[0], dtypes[0], i % 2 == 0);
        check_layer_norm(2, widths[i], dtypes[i % 4], 0, 0);
    }
}
