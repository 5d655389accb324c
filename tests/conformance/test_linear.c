// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
// linear in all its forms: both directions, three types of weight, bias, panels, slices.

#include "device.h"
#include "harness/formulas.h"

#include <tapml/ops.h>

#include <criterion/criterion.h>
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

TestSuite(linear, .init = open_device, .fini = close_device, .timeout = 300);

static const double limit = 1e-5;

struct shape {
    int64_t tokens, out, in;
    uint32_t dtype; // Of the weight,
    uint32_t bias;  // and of the bias; 0 is none.
    int transposed;
    int64_t panel; // Rows of each panel but the last; 0 is all in one.
    int is_slice;  // x and y lie in wider buffers, the weight behind one element.
};

enum { PANELS_MAX = 4 };

static const char *name_of(uint32_t dtype)
{
    const struct codec *codec = operand_codec(dtype);

    return codec != NULL         ? codec->encoding->id
           : dtype == TAPML_F32  ? "f32"
           : dtype == TAPML_BF16 ? "bf16"
           : dtype == TAPML_F16  ? "f16"
                                 : "none";
}

// The weight, and in `panels` what follows its first panel.
static struct operand_spec
make_weight(const struct shape *s, const double *values, struct operand_spec panels[PANELS_MAX])
{
    const int64_t rows = s->transposed ? s->in : s->out, width = s->transposed ? s->out : s->in;
    const int64_t step = s->panel != 0 && s->panel < rows ? s->panel : rows;
    struct operand_spec first = {0};

    for (int64_t at = 0, i = 0; at < rows; at += step, i++) {
        const int64_t count = rows - at < step ? rows - at : step;
        struct operand_spec spec = op_fixture_rows(s->dtype, count, width, values + at * width);

        cr_assert_leq(i, PANELS_MAX);
        spec.lead = s->is_slice != 0;
        if (i == 0) {
            first = spec;
        } else {
            panels[i - 1] = spec;
        }
    }
    return first;
}

static void check(struct shape s)
{
    const size_t rows = (size_t)s.tokens, out = (size_t)s.out, in = (size_t)s.in;
    double *x = op_fixture_values(1, TAPML_F32, rows * in),
           *w = op_fixture_values(2, s.dtype, in * out);
    double *b = s.bias != 0 ? op_fixture_values(3, s.bias, out) : NULL;
    double *expected = device_array(rows * out);
    struct operand_spec panels[PANELS_MAX + 1] = {{0}};
    struct op_fixture fixture = {.op = &tapml_linear, .output = TAPML_LINEAR_Y};
    struct op_fixture_argument *arguments = fixture.arguments;
    char name[128];

    formulas_linear(
        &(struct formulas_linear){
            .rows = rows, .in = in, .out = out, .x = x, .w = w, .b = b, .transposed = s.transposed},
        expected);
    arguments[TAPML_LINEAR_X].tensor = op_fixture_rows(TAPML_F32, s.tokens, s.in, x);
    arguments[TAPML_LINEAR_W].tensor = make_weight(&s, w, panels);
    arguments[TAPML_LINEAR_W].panels = panels;
    if (b != NULL) {
        arguments[TAPML_LINEAR_B].tensor = op_fixture_row(s.bias, s.out, b);
        arguments[TAPML_LINEAR_B].tensor.lead = s.is_slice != 0;
    }
    arguments[TAPML_LINEAR_TRANSPOSED].i64 = s.transposed;
    arguments[TAPML_LINEAR_Y].tensor = op_fixture_rows(TAPML_F32, s.tokens, s.out, NULL);
    if (s.is_slice) {
        arguments[TAPML_LINEAR_X].tensor =
            op_fixture_spread(arguments[TAPML_LINEAR_X].tensor, (size_t)s.in, 2 * s.in);
        arguments[TAPML_LINEAR_Y].tensor =
            op_fixture_spread(arguments[TAPML_LINEAR_Y].tensor, 3, 5);
    }
    (void)snprintf(name, sizeof(name), "tokens %ld out %ld in %ld %s bias %s%s panel %ld%s",
                   (long)s.tokens, (long)s.out, (long)s.in, name_of(s.dtype), name_of(s.bias),
                   s.transposed ? " transposed" : "", (long)s.panel, s.is_slice ? " slice" : "");
    device_check(device, &fixture, rows * out, expected, limit, name);
    free(x);
    free(w);
    free(b);
}

static const uint32_t dtypes[] = {TAPML_F32, TAPML_BF16, TAPML_F16};

static void check_widths(int transposed)
{
    static const int64_t tokens[] = {1, 2, 3, 5, 19, 33, 70};

    for (int i = 0; i < DEVICE_WIDTH_COUNT; i++) {
        const int64_t in = device_widths[i];

        for (int d = 0; d < 3; d++) {
            const uint32_t bias = (i + d) % 4 == 0 ? 0 : dtypes[(i + d) % 3];

            check((struct shape){tokens[(i + d) % 7], 37, in, dtypes[d], bias, transposed, 0, 0});
            check(
                (struct shape){tokens[(i + 2 * d) % 4], 24, in, dtypes[d], bias, transposed, 0, 1});
        }
    }
}

Test(linear, widths)
{
    check_widths(0);
}

Test(linear, widths_transposed)
{
    check_widths(1);
}

Test(linear, tokens_and_outputs)
{
    static const int64_t tokens[] = {1, 2, 3, 4, 5, 16, 17, 33, 70},
                         outs[] = {1, 4, 63, 64, 65, 200};

    for (int t = 0; t < 9; t++) {
        for (int n = 0; n < 6; n++) {
            const uint32_t dtype = dtypes[(t + n) % 3];

            check((struct shape){tokens[t], outs[n], 32, dtype, TAPML_F32, (t + n) % 2, 0, 0});
        }
    }
}

Test(linear, panels)
{
    for (int transposed = 0; transposed < 2; transposed++) {
        for (int d = 0; d < 3; d++) {
            check((struct shape){1, 130, 96, dtypes[d], TAPML_F32, transposed, 64, 0});
            check((struct shape){33, 130, 257, dtypes[d], TAPML_BF16, transposed, 65, 0});
            check((struct shape){7, 95, 80, dtypes[d], 0, transposed, 31, 1});
        }
    }
}

// Weights in blocks, in both directions: rows of one block and of many, all tiles, panels, slices.
Test(linear, blocks)
{
    static const int64_t tokens[] = {1, 3, 4, 5, 17, 33, 70}, widths[] = {32, 64, 96, 160, 320},
                         others[] = {1, 37, 64, 65, 130};

    for (int i = 0; i < 70; i++) {
        const int is_transposed = i / 7 % 2;
        const int64_t width = widths[i % 5], other = others[i / 2 % 5];

        check((struct shape){tokens[i % 7], is_transposed ? width : other,
                             is_transposed ? other : width, i % 2 != 0 ? OPERAND_Q8 : OPERAND_Q4,
                             i % 3 == 0 ? TAPML_F16 : 0, is_transposed, i % 4 == 1 ? 33 : 0,
                             i % 5 > 2});
    }
}

// Every encoding that the device takes, by every kernel.
Test(linear, encodings)
{
    static const int64_t tokens[] = {1, 5, 33}, others[] = {37, 130, 1};

    for (uint32_t e = 0; codec_at(e) != NULL; e++) {
        const uint32_t dtype = OPERAND_ENCODED(e);

        for (int i = 0; operand_is_taken(device, dtype) && i < 6; i++) {
            const int is_transposed = i % 2;
            const int64_t width = i < 3 ? 256 : 768, other = others[i % 3];

            check((struct shape){tokens[i % 3], is_transposed ? width : other,
                                 is_transposed ? other : width, dtype, i == 2 ? TAPML_F16 : 0,
                                 is_transposed, i == 4 ? 100 : 0, i == 5});
        }
    }
}

// More than two leading axes, which merge into two strides, and into none.
Test(linear, ranks)
{
    double *x = op_fixture_values(4, TAPML_F32, 30 * 24),
           *w = op_fixture_values(5, TAPML_F32, 24 * 7);
    struct op_fixture fixture = {.op = &tapml_linear, .output = TAPML_LINEAR_Y};

    for (int i = 0; i < 3; i++) {
        double *expected = device_array(30 * 7);
        struct operand_spec xs = {TAPML_F32, 3, {5, 6, 24}, {6 * 40, 24, 1}, true, 8, 0, x};
        struct operand_spec ys = {TAPML_F32, 3, {5, 6, 7}, {100, 9, 1}, true, 2, 0, NULL};

        if (i == 1) {
            xs = (struct operand_spec){TAPML_F32, 1, {24}, {1}, true, 4, 0, x};
            ys = (struct operand_spec){TAPML_F32, 1, {7}, {1}, true, 4, 0, NULL};
        } else if (i == 2) {
            xs = (struct operand_spec){TAPML_F32, 4, {2, 3, 5, 24}, {0}, false, 0, 0, x};
            ys = (struct operand_spec){TAPML_F32, 4, {2, 3, 5, 7}, {0}, false, 0, 0, NULL};
        }
        const size_t rows = i == 1 ? 1 : 30;

        formulas_linear(&(struct formulas_linear){.rows = rows, .in = 24, .out = 7, .x = x, .w = w},
                        expected);
        fixture.arguments[TAPML_LINEAR_X].tensor = xs;
        fixture.arguments[TAPML_LINEAR_W].tensor = op_fixture_rows(TAPML_F32, 7, 24, w);
        fixture.arguments[TAPML_LINEAR_Y].tensor = ys;
        device_check(device, &fixture, rows * 7, expected, limit, "leading axes");
    }
    free(x);
    free(w);
}
