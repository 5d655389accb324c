// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/plugin_fixture.h"
#include "harness/schemas.h"
#include "tensor/arithmetic.h"
#include "verify/explainer.h"

#include <tapml/backend.h>
#include <tapml/ops.h>

#include <criterion/criterion.h>
#include <string.h>

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

// y = linear(x, w), as some device has computed it.
enum { IN = 64, OUT = 8 };

static struct plugin_fixture plugins;
static struct explainer *explainer;
static float x[IN], w[OUT * IN], right[OUT], computed[OUT];
static struct case_argument arguments[5];
static struct carved_case item;

static struct case_argument tensor(uint32_t param, int64_t rows, int64_t width)
{
    const uint64_t bytes = (uint64_t)(rows * width) * sizeof(float);
    return (struct case_argument){.name = tapml_linear.params[param]->name,
                                  .kind = tapml_linear.params[param]->kind,
                                  .effects = tapml_linear.params[param]->effects,
                                  .dtype = TAPML_F32,
                                  .rank = 2,
                                  .shape = {rows, width},
                                  .stride = {width, 1},
                                  .base_bytes = bytes,
                                  .origin = "",
                                  .content_bytes = bytes};
}

static void begin(void)
{
    plugin_fixture_open(&plugins);
    MUST(explainer_create(plugins.registry, NULL, NULL, &explainer));
    for (int i = 0; i < IN; i++) {
        x[i] = (float)((i * 7919 + 13) % 1009) / 503.3F - 1;
    }
    for (int i = 0; i < OUT * IN; i++) {
        w[i] = (float)((i * 6151 + 7) % 997) / 499.1F - 1;
    }
    arguments[0] = tensor(0, 1, IN);
    arguments[0].before = x;
    arguments[1] = tensor(1, OUT, IN);
    arguments[1].before = w;
    arguments[2] = (struct case_argument){.name = "b", .kind = TAPML_V_NONE};
    arguments[3] = (struct case_argument){.name = "transposed", .kind = TAPML_P_I64};
    arguments[4] = tensor(4, 1, OUT);
    arguments[4].after = right;
    item = (struct carved_case){.instance = "q",
                                .op_name = "tapml.linear",
                                .op_version = 1,
                                .shape_class = "x=[1,64]",
                                .arguments = arguments,
                                .argument_count = 5};
}

static void end(void)
{
    explainer_destroy(explainer);
    plugin_fixture_close(&plugins);
}

TestSuite(explainer, .init = begin, .fini = end, .timeout = 60);

static void compute(const float *inputs, const float *weights, float *out)
{
    for (int row = 0; row < OUT; row++) {
        double sum = 0;
        for (int i = 0; i < IN; i++) {
            sum += (double)inputs[i] * (double)weights[row * IN + i];
        }
        out[row] = (float)sum;
    }
}

static const char *ask(void)
{
    static char text[EXPLAINER_TEXT];
    compute(x, w, right);
    const struct replay_output output = {.param = "y",
                                         .dtype = TAPML_F32,
                                         .expected = right,
                                         .computed = computed,
                                         .rows = 1,
                                         .width = OUT};
    MUST(explainer_ask(explainer,
                       &(struct explainer_question){.item = &item,
                                                    .schema = schema_of(&tapml_linear),
                                                    .outputs = &output,
                                                    .output_count = 1},
                       text));
    return text;
}

// As a device with inputs of a format gives it, whose results may be rounded, too.
static void round_and_compute(uint32_t inputs, uint32_t block, uint32_t weights, uint32_t result)
{
    float own_x[IN], own_w[OUT * IN];
    memcpy(own_x, x, sizeof(x));
    memcpy(own_w, w, sizeof(w));
    arithmetic_round(inputs, block, own_x, 1, IN);
    arithmetic_round(weights, 0, own_w, OUT, IN);
    compute(own_x, own_w, computed);
    arithmetic_round(result, 0, computed, 1, OUT);
}

Test(explainer, names_the_precision)
{
    const struct {
        uint32_t inputs, block, weights, result;
        const char *text;
    } known[] = {
        {TAPML_FORMAT_F16, 0, TAPML_FORMAT_F32, TAPML_FORMAT_F32, "as if activations were f16"},
        {TAPML_FORMAT_F16, 0, TAPML_FORMAT_F32, TAPML_FORMAT_F16, "as if activations were f16"},
        {TAPML_FORMAT_F16, 0, TAPML_FORMAT_F16, TAPML_FORMAT_F32,
         "as if activations and weights were f16"},
        {TAPML_FORMAT_BF16, 0, TAPML_FORMAT_F32, TAPML_FORMAT_F32, "as if activations were bf16"},
        {TAPML_FORMAT_F32, 0, TAPML_FORMAT_BF16, TAPML_FORMAT_F32, "as if weights were bf16"},
        {TAPML_FORMAT_Q8, 32, TAPML_FORMAT_F32, TAPML_FORMAT_F32, "as if activations were q8"},
        {TAPML_FORMAT_F32, 0, TAPML_FORMAT_F32, TAPML_FORMAT_BF16,
         "as if results were rounded to bf16"},
    };
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        round_and_compute(known[i].inputs, known[i].block, known[i].weights, known[i].result);
        cr_expect_str_eq(ask(), known[i].text);
    }
    cr_assert_gt(explainer_executions(explainer), 0);
}

Test(explainer, what_is_wrong_has_no_explanation)
{
    round_and_compute(TAPML_FORMAT_F16, 0, TAPML_FORMAT_F32, TAPML_FORMAT_F32);
    computed[3] *= 1.01F;
    for (int i = 0; i < 3; i++) {
        cr_assert_str_eq(ask(), "");
    }
    const uint64_t before = explainer_executions(explainer);
    cr_assert_str_eq(ask(), "");
    cr_assert_eq(explainer_executions(explainer), before, "an op is given up");
}
