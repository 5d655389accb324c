// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/formulas.h"
#include "plugins/reference.h"

#include <tapml/ops.h>

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

// A linear of dense tensors; a test changes what it is about.
struct linear {
    size_t rows, in, out;
    uint32_t dtype, bias_dtype; // 0 is no bias.
    int transposed;
    double *x, *w, *b, *expected;
    struct op_fixture fixture;
};

static void linear_init(struct linear *linear)
{
    const int64_t rows = (int64_t)linear->rows, in = (int64_t)linear->in;
    const int64_t out = (int64_t)linear->out;
    struct op_fixture_argument *arguments = linear->fixture.arguments;

    linear->x = op_fixture_values(1, TAPML_F32, linear->rows * linear->in);
    linear->w = op_fixture_values(2, linear->dtype, linear->in * linear->out);
    linear->b = op_fixture_values(3, linear->bias_dtype, linear->out);
    linear->expected = calloc(linear->rows * linear->out, sizeof(double));
    cr_assert_not_null(linear->expected);

    const struct formulas_linear op = {
        .rows = linear->rows,
        .in = linear->in,
        .out = linear->out,
        .x = linear->x,
        .w = linear->w,
        .b = linear->bias_dtype != 0 ? linear->b : NULL,
        .transposed = linear->transposed,
    };

    formulas_linear(&op, linear->expected);
    linear->fixture.op = &tapml_linear;
    linear->fixture.output = TAPML_LINEAR_Y;
    arguments[TAPML_LINEAR_X].tensor = op_fixture_rows(TAPML_F32, rows, in, linear->x);
    arguments[TAPML_LINEAR_W].tensor = linear->transposed
                                           ? op_fixture_rows(linear->dtype, in, out, linear->w)
                                           : op_fixture_rows(linear->dtype, out, in, linear->w);
    if (linear->bias_dtype != 0) {
        arguments[TAPML_LINEAR_B].tensor = op_fixture_row(linear->bias_dtype, out, linear->b);
    }
    arguments[TAPML_LINEAR_TRANSPOSED].i64 = linear->transposed;
    arguments[TAPML_LINEAR_Y].tensor = op_fixture_rows(TAPML_F32, rows, out, NULL);
}

static void linear_check(struct linear *linear)
{
    // The rms is that of all outputs: a single one may happen to be nearly zero.
    reference_check(&linear->fixture, 1, linear->expected, 5e-6);
    free(linear->x);
    free(linear->w);
    free(linear->b);
    free(linear->expected);
}

Test(reference_linear, every_width)
{
    static const size_t widths[] = {1, 3, 5, 7, 24, 80, 96, 128, 257};
    static const size_t rows[] = {1, 2, 5, 33};
    enum { COUNT = sizeof(widths) / sizeof(widths[0]) };

    for (size_t i = 0; i < (size_t)COUNT * COUNT; i++) {
        struct linear linear = {
            .rows = rows[i % 4],
            .in = widths[i / COUNT],
            .out = widths[i % COUNT],
            .dtype = TAPML_F32,
        };

        linear_init(&linear);
        linear_check(&linear);
    }
}

Test(reference_linear, every_dtype_with_and_without_bias_both_ways_round)
{
    static const uint32_t dtypes[] = {TAPML_F32, TAPML_F16, TAPML_BF16};
    static const uint32_t biases[] = {0, TAPML_F32, TAPML_F16, TAPML_BF16};

    for (size_t i = 0; i < (size_t)3 * 4 * 2; i++) {
        struct linear linear = {
            .rows = 5,
            .in = 80,
            .out = 37,
            .dtype = dtypes[i % 3],
            .bias_dtype = biases[i / 3 % 4],
            .transposed = (int)(i / 12),
        };

        linear_init(&linear);
        linear_check(&linear);
    }
}

Test(reference_linear, rows_may_lie_anywhere)
{
    for (int transposed = 0; transposed < 2; transposed++) {
        struct linear linear = {
            .rows = 6,
            .in = 80,
            .out = 24,
            .dtype = TAPML_BF16,
            .bias_dtype = TAPML_F16,
            .transposed = transposed,
        };
        struct op_fixture_argument *arguments = linear.fixture.arguments;

        linear_init(&linear);
        for (uint32_t i = 0; i < tapml_linear.n_params; i++) {
            if (arguments[i].tensor.rank > 0) {
                arguments[i].tensor = op_fixture_spread(arguments[i].tensor, 1 + 2 * i, 3);
            }
        }

        // Two leading axes in place of one, and the same x for both values of the outer one.
        arguments[TAPML_LINEAR_X].tensor = (struct operand_spec){
            .dtype = TAPML_F32,
            .rank = 3,
            .shape = {2, 3, 80},
            .stride = {250, 83, 1},
            .strided = true,
            .lead = 3,
            .values = linear.x,
        };
        arguments[TAPML_LINEAR_Y].tensor = (struct operand_spec){
            .dtype = TAPML_F32,
            .rank = 3,
            .shape = {2, 3, 24},
            .stride = {30, 60, 1},
            .strided = true,
            .lead = 5,
        };
        linear_check(&linear);
    }
}

Test(reference_linear, an_f32_weight_needs_no_alignment)
{
    struct linear linear = {.rows = 3, .in = 24, .out = 7, .dtype = TAPML_F32};

    linear_init(&linear);
    linear.fixture.arguments[TAPML_LINEAR_W].tensor.skew_bytes = 2;
    linear_check(&linear);
}

Test(reference_linear, a_single_row_without_leading_axes)
{
    struct linear linear = {.rows = 1, .in = 24, .out = 7, .dtype = TAPML_F32};
    struct op_fixture_argument *arguments = linear.fixture.arguments;

    linear_init(&linear);
    arguments[TAPML_LINEAR_X].tensor = op_fixture_row(TAPML_F32, 24, linear.x);
    arguments[TAPML_LINEAR_Y].tensor = op_fixture_row(TAPML_F32, 7, NULL);
    linear_check(&linear);
}

Test(reference_linear, panels_of_the_weight)
{
    for (int transposed = 0; transposed < 2; transposed++) {
        struct linear linear = {
            .rows = 5, .in = 40, .out = 40, .dtype = TAPML_BF16, .transposed = transposed};

        linear_init(&linear);

        // 40 rows in panels of 13, 1 and 26.
        const struct operand_spec panels[] = {
            op_fixture_rows(TAPML_BF16, 1, 40, linear.w + (size_t)13 * 40),
            op_fixture_spread(op_fixture_rows(TAPML_BF16, 26, 40, linear.w + (size_t)14 * 40), 3,
                              2),
            {.rank = 0},
        };

        linear.fixture.arguments[TAPML_LINEAR_W].tensor.shape[0] = 13;
        linear.fixture.arguments[TAPML_LINEAR_W].panels = panels;
        linear_check(&linear);
    }
}

Test(reference_linear, threads_share_the_outputs)
{
    struct linear linear = {.rows = 33, .in = 257, .out = 128, .dtype = TAPML_BF16};
    struct plugin *plugin = reference_open("f32", 3);
    double y[33 * 128];

    linear_init(&linear);
    op_fixture_run(&linear.fixture, plugin, y);
    cr_assert_gt(plugin_range_count(plugin), 1);
    reference_close(plugin);
    linear_check(&linear);
}

Test(reference_linear, devices_differ_by_the_order_of_sums)
{
    static const char *const devices[] = {"f64", "f32", "f32-reversed", "f32-blocked"};
    struct linear linear = {.rows = 2, .in = 257, .out = 24, .dtype = TAPML_F32};
    double y[4][2 * 24];

    linear_init(&linear);
    for (size_t i = 0; i < 4; i++) {
        struct plugin *plugin = reference_open(devices[i], 1);

        op_fixture_run(&linear.fixture, plugin, y[i]);
        reference_close(plugin);
        for (size_t before = 0; before < i; before++) {
            cr_assert_arr_neq(y[before], y[i], sizeof(y[i]), "%s", devices[i]);
        }
    }
    linear_check(&linear);
}

// The order of each device, term by term, in plain float.
Test(reference_linear, orders_are_what_they_are_called)
{
    struct linear linear = {.rows = 1, .in = 257, .out = 3, .dtype = TAPML_F32};
    float forward = 0, reversed = 0, blocked = 0, block = 0;
    struct plugin *plugin;
    double y[3];

    linear_init(&linear);
    for (size_t k = 0; k < 257; k++) {
        forward += (float)linear.x[k] * (float)linear.w[(size_t)2 * 257 + k];
        reversed += (float)linear.x[256 - k] * (float)linear.w[2 * 257 + 256 - k];
        block += (float)linear.x[k] * (float)linear.w[(size_t)2 * 257 + k];
        if (k % 32 == 31 || k == 256) {
            blocked += block;
            block = 0;
        }
    }

    plugin = reference_open("f32", 1);
    op_fixture_run(&linear.fixture, plugin, y);
    cr_assert_eq((float)y[2], forward);
    reference_close(plugin);

    plugin = reference_open("f32-reversed", 1);
    op_fixture_run(&linear.fixture, plugin, y);
    cr_assert_eq((float)y[2], reversed);
    reference_close(plugin);

    plugin = reference_open("f32-blocked", 1);
    op_fixture_run(&linear.fixture, plugin, y);
    cr_assert_eq((float)y[2], blocked);
    reference_close(plugin);
    linear_check(&linear);
}

Test(reference_linear, a_row_that_is_not_finite_stays_alone)
{
    struct linear linear = {.rows = 3, .in = 24, .out = 9, .dtype = TAPML_F32};

    linear_init(&linear);
    linear.x[24 + 5] = NAN;
    linear.x[24 + 6] = INFINITY;
    for (size_t n = 0; n < 9; n++) {
        linear.expected[9 + n] = NAN;
    }
    linear_check(&linear);
}

Test(reference_linear, block_quantised_weights_are_refused_with_a_reason)
{
    static const tapml_encoding encoding = {
        .hdr = TAPML_HDR(tapml_encoding), .id = "gguf.iq2_xs/1", .block_values = 32};
    struct plugin *plugin = reference_open(NULL, 1);
    const int64_t shape[] = {4, 32};
    const tapml_tensor x = {
        .hdr = TAPML_HDR(tapml_tensor), .dtype = TAPML_F32, .rank = 2, .shape = shape};
    tapml_tensor w = x;
    const tapml_value args[] = {
        {.kind = TAPML_P_TENSOR_IN, .u.p = &x},
        {.kind = TAPML_P_TENSOR_IN, .u.p = &w},
        {.kind = TAPML_V_NONE},
        {.kind = TAPML_P_I64},
        {.kind = TAPML_P_TENSOR_OUT, .u.p = &x},
    };

    cr_assert_eq(plugin_supports(plugin, &tapml_linear, args).grade, TAPML_SUPPORT_YES);
    w.dtype = TAPML_U8;
    w.encoding = &encoding;

    const tapml_support encoded = plugin_supports(plugin, &tapml_linear, args);

    cr_assert_eq(encoded.grade, TAPML_SUPPORT_NO);
    cr_assert_str_eq(encoded.reason, "'w' has encoding 'gguf.iq2_xs/1', which is not known");
    w.encoding = NULL;

    const tapml_support unknown = plugin_supports(plugin, &tapml_linear, args);

    cr_assert_eq(unknown.grade, TAPML_SUPPORT_NO);
    cr_assert_str_eq(unknown.reason, "'w' has dtype 0x10008, known are f32, f16, bf16 and i32");
    reference_close(plugin);
}
