// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
// rms_norm and rope: ops over the last axis of rows.

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

TestSuite(rows, .init = open_device, .fini = close_device, .timeout = 300);

// `weight` 0 is none. A slice is the middle third of a wider buffer, and its weight begins oddly.
static void
check_norm(int64_t rows, int64_t width, uint32_t weight, double offset, double eps, int is_slice)
{
    const size_t count = (size_t)(rows * width);
    double *x = op_fixture_values(1, TAPML_F32, count), *expected = device_array(count);
    double *w = weight != 0 ? op_fixture_values(2, weight, (size_t)width) : NULL;
    struct op_fixture fixture = {.op = &tapml_rms_norm, .output = TAPML_RMS_NORM_Y};
    struct op_fixture_argument *arguments = fixture.arguments;
    char name[96];

    formulas_rms_norm(&(struct formulas_rms_norm){(size_t)rows, (size_t)width, x, w, eps, offset},
                      expected);
    arguments[TAPML_RMS_NORM_X].tensor = op_fixture_rows(TAPML_F32, rows, width, x);
    arguments[TAPML_RMS_NORM_Y].tensor = op_fixture_rows(TAPML_F32, rows, width, NULL);
    if (w != NULL) {
        arguments[TAPML_RMS_NORM_WEIGHT].tensor = op_fixture_row(weight, width, w);
        arguments[TAPML_RMS_NORM_WEIGHT].tensor.lead = is_slice != 0;
    }
    arguments[TAPML_RMS_NORM_EPS].f64 = eps;
    arguments[TAPML_RMS_NORM_OFFSET].f64 = offset;
    if (is_slice) {
        arguments[TAPML_RMS_NORM_X].tensor =
            op_fixture_spread(arguments[TAPML_RMS_NORM_X].tensor, (size_t)width, 2 * width);
        arguments[TAPML_RMS_NORM_Y].tensor =
            op_fixture_spread(arguments[TAPML_RMS_NORM_Y].tensor, 4, 4);
    }
    (void)snprintf(name, sizeof(name), "rows %ld width %ld weight 0x%x%s", (long)rows, (long)width,
                   weight, is_slice ? " slice" : "");
    device_check_each(device, &fixture, count, expected, width > 1000 ? 64 : 16, name);
    free(x);
    free(w);
}

Test(rows, rms_norm)
{
    static const int64_t rows[] = {1, 2, 3, 5, 19, 33, 70};

    for (int i = 0; i < DEVICE_WIDTH_COUNT; i++) {
        const int64_t width = device_widths[i];

        check_norm(rows[i % 7], width, TAPML_F32, 0, 1e-5, 0);
        check_norm(2, width, TAPML_F32, 1, 1e-6, 1);
        check_norm(3, width, TAPML_BF16, 1, 1e-5, i % 2);
        check_norm(2, width, TAPML_F16, 0, 0.25, (i + 1) % 2);
        check_norm(1, width, 0, 0, 1e-5, i % 2);
    }
}

Test(rows, rms_norm_of_wide_rows)
{
    check_norm(2, 5000, TAPML_F32, 0, 1e-5, 0);
    check_norm(3, 4099, TAPML_BF16, 0, 1e-5, 1);
}

// One workgroup a row, and more rows than an axis of a grid promises groups.
Test(rows, rms_norm_on_a_folded_grid)
{
    check_norm(SANITIZED_COUNT(70001, 1000), 3, TAPML_F32, 0, 1e-5, 0);
    check_norm(SANITIZED_COUNT(70001, 1000), 4, TAPML_F32, 0, 1e-5, 1);
}

static void
check_layer_norm(int64_t rows, int64_t width, uint32_t weight, uint32_t bias, int is_slice)
{
    const size_t count = (size_t)(rows * width);
    double *x = op_fixture_values(1, TAPML_F32, count), *expected = device_array(count);
    double *w = weight != 0 ? op_fixture_values(2, weight, (size_t)width) : NULL;
    double *b = bias != 0 ? op_fixture_values(3, bias, (size_t)width) : NULL;
    struct op_fixture fixture = {.op = &tapml_layer_norm, .output = TAPML_LAYER_NORM_Y};
    struct op_fixture_argument *arguments = fixture.arguments;
    char name[96];

    formulas_layer_norm(
        &(struct formulas_layer_norm){(size_t)rows, (size_t)width, x, w, b, 0.125, is_slice != 0},
        expected);
    arguments[TAPML_LAYER_NORM_X].tensor = op_fixture_rows(TAPML_F32, rows, width, x);
    arguments[TAPML_LAYER_NORM_Y].tensor = op_fixture_rows(TAPML_F32, rows, width, NULL);
    if (w != NULL) {
        arguments[TAPML_LAYER_NORM_WEIGHT].tensor = op_fixture_row(weight, width, w);
    }
    if (b != NULL) {
        arguments[TAPML_LAYER_NORM_BIAS].tensor = op_fixture_row(bias, width, b);
        arguments[TAPML_LAYER_NORM_BIAS].tensor.lead = 1;
    }
    arguments[TAPML_LAYER_NORM_EPS].f64 = 0.125;
    arguments[TAPML_LAYER_NORM_OFFSET].f64 = is_slice != 0;
    if (is_slice) {
        arguments[TAPML_LAYER_NORM_X].tensor =
            op_fixture_spread(arguments[TAPML_LAYER_NORM_X].tensor, (size_t)width, 2 * width);
    }
    (void)snprintf(name, sizeof(name), "layer_norm rows %ld width %ld weight 0x%x bias 0x%x",
                   (long)rows, (long)width, weight, bias);
    device_check(device, &fixture, count, expected, 4e-6, name);
    free(x);
    free(w);
    free(b);
}

Test(rows, layer_norm)
{
    for (int i = 0; i < DEVICE_WIDTH_COUNT; i++) {
        const int64_t width = device_widths[i];

        check_layer_norm(1 + i, width, TAPML_F32, TAPML_F32, i % 2);
        check_layer_norm(3, width, TAPML_BF16, TAPML_F16, (i + 1) % 2);
        check_layer_norm(2, width, TAPML_F16, 0, i % 2);
        check_layer_norm(2, width, 0, 0, 0);
    }
    check_layer_norm(70001, 3, TAPML_F32, TAPML_BF16, 0);
}

static void check_rope(
    int64_t tokens, int64_t heads, int64_t width, int64_t half, int interleaved, int is_slice)
{
    const size_t count = (size_t)(tokens * heads * width), table = (size_t)(tokens * half);
    double *x = op_fixture_values(1, TAPML_F32, count),
           *angle = op_fixture_values(2, TAPML_F32, table);
    double *cosine = device_array(table), *sine = device_array(table);
    double *expected = device_array(count);
    struct op_fixture fixture = {.op = &tapml_rope, .output = TAPML_ROPE_Y};
    struct op_fixture_argument *arguments = fixture.arguments;
    char name[96];

    for (size_t i = 0; i < table; i++) {
        cosine[i] = (float)cos(angle[i]);
        sine[i] = (float)sin(angle[i]);
    }
    formulas_rope(&(struct formulas_rope){(size_t)tokens, (size_t)heads, (size_t)width,
                                          (size_t)half, x, cosine, sine, interleaved},
                  expected);
    arguments[TAPML_ROPE_X].tensor = op_fixture_heads(TAPML_F32, tokens, heads, width, x);
    arguments[TAPML_ROPE_COS].tensor = op_fixture_rows(TAPML_F32, tokens, half, cosine);
    arguments[TAPML_ROPE_SIN].tensor = op_fixture_rows(TAPML_F32, tokens, half, sine);
    arguments[TAPML_ROPE_INTERLEAVED].i64 = interleaved;
    arguments[TAPML_ROPE_Y].tensor = op_fixture_heads(TAPML_F32, tokens, heads, width, NULL);
    if (is_slice) {
        arguments[TAPML_ROPE_X].tensor = op_fixture_spread(arguments[TAPML_ROPE_X].tensor, 5, 3);
        arguments[TAPML_ROPE_SIN].tensor =
            op_fixture_spread(arguments[TAPML_ROPE_SIN].tensor, 1, 2);
        arguments[TAPML_ROPE_Y].tensor = op_fixture_spread(arguments[TAPML_ROPE_Y].tensor, 2, 7);
    }
    (void)snprintf(name, sizeof(name), "tokens %ld heads %ld width %ld half %ld %s%s", (long)tokens,
                   (long)heads, (long)width, (long)half, interleaved ? "interleaved" : "halves",
                   is_slice ? " slice" : "");
    device_check(device, &fixture, count, expected, 1e-6, name);
    free(x);
    free(angle);
    free(cosine);
    free(sine);
}

Test(rows, rope)
{
    static const int64_t tokens[] = {1, 2, 3, 5, 19, 33, 70};

    for (int interleaved = 0; interleaved < 2; interleaved++) {
        for (int i = 1; i < DEVICE_WIDTH_COUNT; i++) { // A head of one value has no pair.
            const int64_t width = device_widths[i], half = width / 2;

            check_rope(tokens[i % 7], 1 + i % 4, width, half, interleaved, i % 2);
            check_rope(tokens[(i + 3) % 7], 3, width, (half + 1) / 2, interleaved, (i + 1) % 2);
        }
    }
}
