// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
// The component `cpu`: what its bits do not depend on. That they are right the conformance tests
// say.

#include "harness/sanitized.h"
#include "plugins/reference.h"

#include <tapml/ops.h>

#include <criterion/criterion.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { IN = 1300, IN_BLOCKS = 1088, IN_LARGE_BLOCKS = 1280, BLOCK = 32, OUT = 140, LEVELS_MAX = 8 };

// The levels of this machine.
struct levels {
    const char *ids[LEVELS_MAX];
    uint32_t count;
};

static const tapml_op_impl *const *
ops_of(struct plugin *plugin, tapml_call *call, uint32_t *out_count)
{
    const tapml_op_impl *const *list = NULL;

    cr_assert_eq(plugin_table(plugin)->ops(plugin_device(plugin), call, &list, out_count),
                 TAPML_OK);
    return list;
}

static struct plugin *open_cpu(const char *component)
{
    const struct plugin_options options = {
        .library = "plugins/cpu/tapml-cpu.so",
        .component = component,
        .threads = 1,
    };
    tapml_call call = {0};
    struct plugin *plugin = NULL;

    cr_assert_eq(plugin_open(&options, &call, &plugin), TAPML_OK, "%s", call.message);
    return plugin;
}

static struct levels find_levels(void)
{
    struct plugin *plugin = open_cpu("cpu");
    const tapml_device_info *const *infos = NULL;
    struct levels levels = {.count = 0};
    tapml_call call = {0};

    cr_assert_eq(plugin_table(plugin)->devices(plugin_root(plugin), &call, &infos, &levels.count),
                 TAPML_OK);
    cr_assert(levels.count > 0 && levels.count < LEVELS_MAX);
    for (uint32_t i = 0; i < levels.count; i++) {
        // The ids are texts of the library, which stays mapped.
        levels.ids[i] = infos[i]->id;
    }
    reference_close(plugin);
    return levels;
}

// The op gives the same bits without a pool and on 1, 2 and 3 threads, on each level; and three
// threads do share it.
static void check_threads(const struct op_fixture *fixture, size_t count)
{
    const struct levels levels = find_levels();

    for (uint32_t i = 0; i < levels.count; i++) {
        double *expected = reference_output(fixture, "cpu", levels.ids[i], 0, NULL);

        for (uint32_t threads = SANITIZED_STEP(3); threads <= 3; threads++) {
            size_t ranges = 0;
            double *computed = reference_output(fixture, "cpu", levels.ids[i], threads, &ranges);

            cr_expect(threads < 3 || ranges > 1, "%s on %s is not shared by threads",
                      fixture->op->name, levels.ids[i]);
            cr_expect(memcmp(expected, computed, count * sizeof(*computed)) == 0,
                      "%s on %s: %u threads change the bits", fixture->op->name, levels.ids[i],
                      threads);
            free(computed);
        }
        free(expected);
    }
}

Test(fast, has_every_op_of_the_reference)
{
    struct plugin *reference = open_cpu("reference"), *cpu = open_cpu("cpu");
    uint32_t expected_count = 0, count = 0;
    size_t fast_count = 0;
    tapml_call call = {0};
    const tapml_op_impl *const *expected = ops_of(reference, &call, &expected_count);
    const tapml_op_impl *const *list = ops_of(cpu, &call, &count);

    cr_assert_eq(count, expected_count);
    for (uint32_t i = 0; i < count; i++) {
        cr_expect_str_eq(list[i]->op->name, expected[i]->op->name);
    }
    reference_close(reference);
    for (uint32_t i = 0; i < count; i++) {
        fast_count += list[i]->fn != expected[i]->fn;
    }
    cr_expect_geq(fast_count, 11);
    reference_close(cpu);
}

Test(fast, activations_in_f16_are_refused)
{
    const double x[] = {1};
    struct plugin *cpu = open_cpu("cpu");
    const struct op_fixture fixture = {
        .op = &tapml_silu,
        .output = TAPML_SILU_Y,
        .arguments = {{.tensor = op_fixture_row(TAPML_F16, 1, x)},
                      {.tensor = op_fixture_row(TAPML_F16, 1, NULL)}},
    };
    const tapml_support support = op_fixture_supports(&fixture, cpu);

    cr_assert_eq(support.grade, TAPML_SUPPORT_NO);
    cr_assert_str_eq(support.reason, "activations are f32, 'x' is f16");
    reference_close(cpu);
}

Test(fast, an_unknown_device_is_refused)
{
    struct plugin *plugin = open_cpu("cpu");
    tapml_object *device = NULL;
    tapml_call call = {0};

    cr_expect_eq(plugin_table(plugin)->open(plugin_root(plugin), &call, "avx9", &device),
                 TAPML_NOT_FOUND);
    cr_expect_not_null(strstr(call.message, "no device 'avx9'"), "%s", call.message);
    reference_close(plugin);
}

static struct op_fixture
linear_fixture(int64_t tokens, uint32_t dtype, const double *x, const double *w, const double *b)
{
    const struct codec *codec = operand_codec(dtype);
    const int64_t in = codec == NULL                            ? IN
                       : codec->encoding->block_values == BLOCK ? IN_BLOCKS
                                                                : IN_LARGE_BLOCKS;
    struct op_fixture fixture = {.op = &tapml_linear, .output = TAPML_LINEAR_Y};

    fixture.arguments[TAPML_LINEAR_X].tensor = op_fixture_rows(TAPML_F32, tokens, in, x);
    fixture.arguments[TAPML_LINEAR_W].tensor = op_fixture_rows(dtype, OUT, in, w);
    fixture.arguments[TAPML_LINEAR_B].tensor = op_fixture_row(TAPML_F32, OUT, b);
    fixture.arguments[TAPML_LINEAR_Y].tensor = op_fixture_rows(TAPML_F32, tokens, OUT, NULL);
    return fixture;
}

// What a row of x gives together with others has the same bits for any number of them; alone too,
// unless weights are in blocks.
static void check_linear(uint32_t dtype)
{
    static const int64_t tokens[] = {1, 7, 20};
    double *x = op_fixture_values(1, TAPML_F32, (size_t)20 * IN);
    double *w = op_fixture_values(2, dtype, (size_t)IN * OUT),
           *b = op_fixture_values(3, TAPML_F32, OUT);
    const struct op_fixture few =
        linear_fixture(operand_codec(dtype) != NULL ? 2 : 1, dtype, x, w, b);
    double *first = reference_output(&few, "cpu", NULL, 0, NULL);

    for (size_t i = 0; i < sizeof(tokens) / sizeof(*tokens); i += SANITIZED_STEP(2)) {
        const struct op_fixture fixture = linear_fixture(tokens[i], dtype, x, w, b);
        double *together = reference_output(&fixture, "cpu", NULL, 0, NULL);

        check_threads(&fixture, (size_t)tokens[i] * OUT);
        if (tokens[i] > 1 || operand_codec(dtype) == NULL) {
            cr_expect(memcmp(first, together, OUT * sizeof(*first)) == 0,
                      "%ld tokens change the bits of the first", (long)tokens[i]);
        }
        free(together);
    }
    free(first);
    free(x);
    free(w);
    free(b);
}

Test(fast, linear_has_the_same_bits_on_any_number_of_threads_and_tokens, .timeout = 300)
{
    check_linear(TAPML_F32);
    check_linear(TAPML_F16);
    check_linear(TAPML_BF16);
    for (uint32_t e = 0; codec_at(e) != NULL; e++) {
        check_linear(OPERAND_ENCODED(e));
    }
}

// Products of `tokens` rows of x with blocks, on a device.
static double *multiply_blocks(
    uint32_t dtype, const int64_t *shape, const double *x, const double *w, const char *device)
{
    const char *component = strcmp(device, "f64") == 0 ? "reference" : "cpu";
    struct op_fixture fixture = {.op = &tapml_linear, .output = TAPML_LINEAR_Y};

    fixture.arguments[TAPML_LINEAR_X].tensor = op_fixture_rows(TAPML_F32, shape[0], shape[1], x);
    fixture.arguments[TAPML_LINEAR_W].tensor = op_fixture_rows(dtype, shape[2], shape[1], w);
    fixture.arguments[TAPML_LINEAR_Y].tensor = op_fixture_rows(TAPML_F32, shape[0], shape[2], NULL);
    return reference_output(&fixture, component, device, 0, NULL);
}

// A row of x that is zero but for one value gives that value of each row of weights: exactly,
// where rows are together.
static void check_values(uint32_t dtype, int64_t width, const struct levels *levels)
{
    enum { TOKENS = 16, ROWS = 7 };
    const int64_t shape[] = {TOKENS, width, ROWS};
    double *x = calloc((size_t)(TOKENS * width), sizeof(*x));
    double *w = op_fixture_values(2, dtype, (size_t)(width * ROWS));

    for (int64_t begin = 0; begin < width; begin += TOKENS) {
        memset(x, 0, (size_t)(TOKENS * width) * sizeof(*x));
        for (int64_t t = 0; t < TOKENS; t++) {
            x[t * width + begin + t] = 1;
        }
        double *expected = multiply_blocks(dtype, shape, x, w, "f64");

        for (uint32_t level = 0; level < levels->count; level++) {
            double *computed = multiply_blocks(dtype, shape, x, w, levels->ids[level]);

            for (size_t i = 0; i < TOKENS * ROWS; i++) {
                cr_expect_eq(computed[i], expected[i], "%s, %s, %ld: %g for %g",
                             operand_codec(dtype)->encoding->id, levels->ids[level],
                             (long)begin + (long)i / ROWS, computed[i], expected[i]);
            }
            free(computed);
        }
        free(expected);
    }
    free(x);
    free(w);
}

Test(fast, blocks_have_the_values_of_their_encoding, .timeout = 300)
{
    const struct levels levels = find_levels();

    for (uint32_t e = 0; codec_at(e) != NULL; e++) {
        check_values(OPERAND_ENCODED(e), codec_at(e)->encoding->block_values * INT64_C(1), &levels);
    }
}

// Rows of one block, of as many as are computed together, and of more and fewer.
static void check_widths(uint32_t dtype, int64_t tokens, const struct levels *levels)
{
    static const int64_t counts[] = {1, 2, 3, 4, 5, 7, 16, 17, 35};
    const int64_t block = operand_codec(dtype)->encoding->block_values, rows = 6;

    for (size_t c = 0; c < sizeof(counts) / sizeof(*counts); c++) {
        const int64_t shape[] = {tokens, counts[c] * block, rows};
        double *x = op_fixture_values(1, TAPML_F32, (size_t)(shape[0] * shape[1]));
        double *w = op_fixture_values(2, dtype, (size_t)(shape[1] * shape[2]));
        double *expected = multiply_blocks(dtype, shape, x, w, "f64");
        double largest = 0;

        for (size_t i = 0; i < (size_t)(shape[1] * shape[2]); i++) {
            largest = fmax(largest, fabs(w[i]));
        }
        for (uint32_t level = 0; level < levels->count; level++) {
            double *computed = multiply_blocks(dtype, shape, x, w, levels->ids[level]);

            for (size_t i = 0; i < (size_t)(tokens * rows); i++) {
                cr_expect_float_eq(
                    computed[i], expected[i], 2e-6 * largest * sqrt((double)shape[1]),
                    "%s, %s, %ld tokens, %ld blocks: %g for %g", operand_codec(dtype)->encoding->id,
                    levels->ids[level], (long)tokens, (long)counts[c], computed[i], expected[i]);
            }
            free(computed);
        }
        free(expected);
        free(x);
        free(w);
    }
}

Test(fast, rows_of_any_number_of_blocks_are_multiplied, .timeout = 300)
{
    const struct levels levels = find_levels();

    for (uint32_t e = 0; codec_at(e) != NULL; e++) {
        check_widths(OPERAND_ENCODED(e), 1, &levels);
        check_widths(OPERAND_ENCODED(e), 3, &levels);
    }
}

// Rows beside which a row of x does not stay in the first cache; outputs are no multiple of the
// rows that are read side by side.
Test(fast, long_rows_have_the_same_bits_alone_and_together, .timeout = 300)
{
    enum { LONG_IN = 4133, LONG_OUT = 27, TOKENS = 9 };
    static const uint32_t dtypes[] = {TAPML_F32, TAPML_F16, TAPML_BF16};
    const struct levels levels = find_levels();
    double *x = op_fixture_values(1, TAPML_F32, (size_t)TOKENS * LONG_IN);

    for (size_t d = 0; d < sizeof(dtypes) / sizeof(*dtypes); d++) {
        double *w = op_fixture_values(2, dtypes[d], (size_t)LONG_IN * LONG_OUT);
        struct op_fixture fixture = {.op = &tapml_linear, .output = TAPML_LINEAR_Y};

        fixture.arguments[TAPML_LINEAR_W].tensor = op_fixture_rows(dtypes[d], LONG_OUT, LONG_IN, w);
        for (uint32_t level = 0; level < levels.count; level++) {
            fixture.arguments[TAPML_LINEAR_X].tensor = op_fixture_rows(TAPML_F32, 1, LONG_IN, x);
            fixture.arguments[TAPML_LINEAR_Y].tensor =
                op_fixture_rows(TAPML_F32, 1, LONG_OUT, NULL);
            double *alone = reference_output(&fixture, "cpu", levels.ids[level], 0, NULL);

            fixture.arguments[TAPML_LINEAR_X].tensor =
                op_fixture_rows(TAPML_F32, TOKENS, LONG_IN, x);
            fixture.arguments[TAPML_LINEAR_Y].tensor =
                op_fixture_rows(TAPML_F32, TOKENS, LONG_OUT, NULL);
            double *together = reference_output(&fixture, "cpu", levels.ids[level], 0, NULL);

            cr_expect(memcmp(alone, together, LONG_OUT * sizeof(*alone)) == 0, "%s",
                      levels.ids[level]);
            free(alone);
            free(together);
        }
        free(w);
    }
    free(x);
}

static const double no_bias[OUT];

// The largest error of an output, against `exact`.
static double worst_error(const struct op_fixture *fixture,
                          const char *component,
                          const char *device,
                          const double *exact)
{
    double *computed = reference_output(fixture, component, device, 0, NULL);
    double worst = 0;

    for (size_t i = 0; i < OUT; i++) {
        worst = fmax(worst, fabs(computed[i] - exact[i]));
    }
    free(computed);
    return worst;
}

// On each level, errors are at most those of the reference, which adds up floats one by one.
static void check_exactness(uint32_t dtype, const double *x, const double *w)
{
    const struct levels levels = find_levels();
    const struct op_fixture fixture = linear_fixture(1, dtype, x, w, no_bias);
    double *exact = reference_output(&fixture, "reference", "f64", 0, NULL);
    const double limit = worst_error(&fixture, "reference", "f32", exact);

    cr_expect_gt(limit, 0);
    for (uint32_t level = 0; level < levels.count; level++) {
        const double error = worst_error(&fixture, "cpu", levels.ids[level], exact);

        cr_expect_leq(error, limit, "%s: %g is beyond %g", levels.ids[level], error, limit);
    }
    free(exact);
}

// Quants meet numbers relative to the largest of a block: what is large, what is small beside it,
// and what is tiny altogether must not cost more than floats lose.
static void check_loss(uint32_t dtype)
{
    double *x = op_fixture_values(1, TAPML_F32, IN_LARGE_BLOCKS);
    double *w = op_fixture_values(2, dtype, (size_t)IN_LARGE_BLOCKS * OUT);

    check_exactness(dtype, x, w);
    for (size_t i = 0; i < IN_LARGE_BLOCKS; i += 100) {
        x[i] *= 1000;
    }
    check_exactness(dtype, x, w);
    for (size_t i = 0; i < IN_LARGE_BLOCKS; i++) {
        x[i] = i / 32 % 2 == 0 ? (float)(x[i] * 0x1p-40) : 0;
    }
    check_exactness(dtype, x, w);
    free(x);
    free(w);
}

Test(fast, quants_lose_no_more_than_floats, .timeout = 300)
{
    for (uint32_t e = 0; codec_at(e) != NULL; e++) {
        check_loss(OPERAND_ENCODED(e));
    }
}

// A sum of IN_BLOCKS products of values up to one; its terms may cancel.
static bool is_near(double expected, double computed)
{
    if (!isfinite(expected)) {
        return isnan(expected) ? isnan(computed) : computed == expected;
    }
    return fabs(computed - expected) <= 1e-5 * fmax(fabs(expected), sqrt(IN_BLOCKS) / 3);
}

static void check_not_finite(int64_t tokens, const double *x, const double *w)
{
    const struct levels levels = find_levels();
    const struct op_fixture fixture = linear_fixture(tokens, OPERAND_Q4, x, w, no_bias);
    double *expected = reference_output(&fixture, "reference", "f32", 0, NULL);

    for (uint32_t level = 0; level < levels.count; level++) {
        double *computed = reference_output(&fixture, "cpu", levels.ids[level], 0, NULL);

        for (size_t i = 0; i < (size_t)tokens * OUT; i++) {
            cr_expect(is_near(expected[i], computed[i]), "%s: %g for %g", levels.ids[level],
                      computed[i], expected[i]);
        }
        free(computed);
    }
    free(expected);
}

// A value of a row that is no number, infinite, or next to it: each output is as the reference has
// it, those of the row and of one beside it.
Test(fast, quants_of_four_bits_meet_what_is_not_finite, .timeout = 300)
{
    const double values[] = {NAN, INFINITY, -INFINITY, 0x1.fffffep127};
    double *x = op_fixture_values(1, TAPML_F32, (size_t)2 * IN_BLOCKS);
    double *w = op_fixture_values(2, OPERAND_Q4, (size_t)IN_BLOCKS * OUT);

    for (size_t v = 0; v < sizeof(values) / sizeof(*values); v++) {
        x[40] = values[v];
        check_not_finite(1, x, w);
        check_not_finite(2, x, w);
    }
    free(x);
    free(w);
}

Test(fast, experts_have_the_same_bits_on_any_number_of_threads, .timeout = 300)
{
    enum { TOKENS = 60, EXPERTS = 3, CHOSEN = 2, WIDTH = 200, OUTPUTS = 300 };
    double *x = op_fixture_values(1, TAPML_F32, (size_t)TOKENS * WIDTH);
    double *w = op_fixture_values(2, TAPML_BF16, (size_t)WIDTH * OUTPUTS * EXPERTS);
    double indices[TOKENS * CHOSEN];
    struct operand_spec others[EXPERTS] = {{0}};
    struct op_fixture fixture = {.op = &tapml_linear_experts, .output = TAPML_LINEAR_EXPERTS_Y};

    for (size_t i = 0; i < (size_t)TOKENS * CHOSEN; i++) {
        indices[i] = (double)((i + i / CHOSEN % 2 * (i % CHOSEN)) % EXPERTS);
    }
    for (size_t e = 1; e < EXPERTS; e++) {
        others[e - 1] =
            op_fixture_rows(TAPML_BF16, OUTPUTS, WIDTH, w + e * (size_t)WIDTH * OUTPUTS);
    }
    fixture.arguments[TAPML_LINEAR_EXPERTS_X].tensor =
        op_fixture_heads(TAPML_F32, TOKENS, 1, WIDTH, x);
    fixture.arguments[TAPML_LINEAR_EXPERTS_INDICES].tensor =
        op_fixture_rows(TAPML_I32, TOKENS, CHOSEN, indices);
    fixture.arguments[TAPML_LINEAR_EXPERTS_W].tensor =
        op_fixture_rows(TAPML_BF16, OUTPUTS, WIDTH, w);
    fixture.arguments[TAPML_LINEAR_EXPERTS_W].panels = others;
    fixture.arguments[TAPML_LINEAR_EXPERTS_Y].tensor =
        op_fixture_heads(TAPML_F32, TOKENS, CHOSEN, OUTPUTS, NULL);
    check_threads(&fixture, (size_t)TOKENS * CHOSEN * OUTPUTS);
    free(x);
    free(w);
}

static struct op_fixture attention_fixture(
    int64_t tokens, int64_t position, const double *q, const double *k, const double *v)
{
    const int64_t rows = 300;
    struct op_fixture fixture = {.op = &tapml_attention, .output = TAPML_ATTENTION_Y};
    struct op_fixture_argument *arguments = fixture.arguments;

    arguments[TAPML_ATTENTION_Q].tensor = op_fixture_heads(TAPML_F32, tokens, 8, 72, q);
    arguments[TAPML_ATTENTION_K_STATE].tensor = op_fixture_heads(TAPML_F32, rows, 4, 72, k);
    arguments[TAPML_ATTENTION_V_STATE].tensor = op_fixture_heads(TAPML_F32, rows, 4, 88, v);
    arguments[TAPML_ATTENTION_POSITION].i64 = position;
    arguments[TAPML_ATTENTION_SCALE].f64 = 0.125;
    arguments[TAPML_ATTENTION_CAUSAL].i64 = 1;
    arguments[TAPML_ATTENTION_Y].tensor = op_fixture_heads(TAPML_F32, tokens, 8, 88, NULL);
    return fixture;
}

Test(fast, attention_has_the_same_bits_on_any_number_of_threads_and_tokens, .timeout = 300)
{
    enum { TOKENS = 40, POSITION = 230 };
    double *q = op_fixture_values(1, TAPML_F32, (size_t)TOKENS * 8 * 72);
    double *k = op_fixture_values(2, TAPML_F32, (size_t)300 * 4 * 72);
    double *v = op_fixture_values(3, TAPML_F32, (size_t)300 * 4 * 88);
    const struct op_fixture all = attention_fixture(TOKENS, POSITION, q, k, v);
    const size_t last = (TOKENS - 1) * 8;
    const struct op_fixture alone =
        attention_fixture(1, POSITION + TOKENS - 1, q + last * 72, k, v);
    double *together = reference_output(&all, "cpu", NULL, 0, NULL);
    double *computed = reference_output(&alone, "cpu", NULL, 0, NULL);

    check_threads(&all, (size_t)TOKENS * 8 * 88);
    cr_expect(memcmp(together + last * 88, computed, (size_t)8 * 88 * sizeof(*computed)) == 0);
    free(together);
    free(computed);
    free(q);
    free(k);
    free(v);
}

// Ops of one operand that has the output's shape.
static void check_rows(const tapml_op *op, uint32_t y)
{
    enum { ROWS = 300, WIDTH = 999 };
    double *x = op_fixture_values(4, TAPML_F32, (size_t)ROWS * WIDTH);
    struct op_fixture fixture = {.op = op, .output = y};

    for (uint32_t i = 0; i < y; i++) {
        if (op->params[i]->kind == TAPML_P_TENSOR_IN && op->params[i]->effects == 0) {
            fixture.arguments[i].tensor = op_fixture_rows(TAPML_F32, ROWS, WIDTH, x);
        }
    }
    fixture.arguments[y].tensor = op_fixture_rows(TAPML_F32, ROWS, WIDTH, NULL);
    check_threads(&fixture, (size_t)ROWS * WIDTH);
    free(x);
}

Test(fast, rows_have_the_same_bits_on_any_number_of_threads, .timeout = 300)
{
    check_rows(&tapml_add, TAPML_ADD_Y);
    check_rows(&tapml_gelu_tanh, TAPML_GELU_TANH_Y);
    check_rows(&tapml_layer_norm, TAPML_LAYER_NORM_Y);
    check_rows(&tapml_mul, TAPML_MUL_Y);
    check_rows(&tapml_rms_norm, TAPML_RMS_NORM_Y);
    check_rows(&tapml_sigmoid, TAPML_SIGMOID_Y);
    check_rows(&tapml_silu, TAPML_SILU_Y);
}
