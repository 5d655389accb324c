// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A case of the op of harness/fused.h, and a device of the reference that has it by its form.
#pragma once

#include "exec/expanded.h"
#include "harness/fused.h"
#include "judged_store.h"

enum { FUSED_TOKENS = 2, FUSED_WIDTH = 4, FUSED_OUT = 3 };

static struct fused fused;
static const struct compiled_op *fused_schema;
static struct expanded *by_form;
static float fused_y[FUSED_TOKENS * FUSED_OUT];
static struct case_argument fused_arguments[FUSED_PARAMS];
static struct carved_case fused_item;

static inline struct case_argument
fused_tensor(uint32_t param, uint32_t rank, int64_t rows, int64_t width, const float *values)
{
    const uint64_t bytes = (uint64_t)((rank > 1 ? rows : 1) * width) * sizeof(float);
    struct case_argument made = {.name = fused.params[param].name,
                                 .kind = fused.params[param].kind,
                                 .effects = fused.params[param].effects,
                                 .dtype = TAPML_F32,
                                 .rank = rank,
                                 .base_bytes = bytes,
                                 .origin = "",
                                 .content_bytes = bytes};
    made.shape[0] = rank > 1 ? rows : width;
    made.shape[1] = rank > 1 ? width : 0;
    made.stride[0] = rank > 1 ? width : 1;
    made.stride[1] = rank > 1 ? 1 : 0;
    made.before = param == FUSED_Y ? NULL : values;
    made.after = param == FUSED_Y ? values : NULL;
    return made;
}

// What is expected of `y` is right, but for `error` in its first value.
static inline void fused_case_make(float error)
{
    static const float x[FUSED_TOKENS * FUSED_WIDTH] = {1, -2, 3, 0.5F, 0.25F, 4, -1, 2};
    static const float weight[FUSED_WIDTH] = {1, 0.5F, 2, -1};
    static const float w[FUSED_OUT * FUSED_WIDTH] = {1, 2, 3, 4, -1, 0.5F, 0, 2, 0.125F, 1, -3, 1};
    for (int t = 0; t < FUSED_TOKENS; t++) {
        double squares = 0;
        for (int i = 0; i < FUSED_WIDTH; i++) {
            squares += (double)x[t * FUSED_WIDTH + i] * (double)x[t * FUSED_WIDTH + i];
        }
        for (int n = 0; n < FUSED_OUT; n++) {
            double sum = 0;
            for (int i = 0; i < FUSED_WIDTH; i++) {
                sum += (double)(float)((double)x[t * FUSED_WIDTH + i] /
                                       sqrt(squares / FUSED_WIDTH + 1e-6) * (double)weight[i]) *
                       (double)w[n * FUSED_WIDTH + i];
            }
            fused_y[t * FUSED_OUT + n] = (float)sum;
        }
    }
    fused_y[0] += error;
    fused_arguments[FUSED_X] = fused_tensor(FUSED_X, 2, FUSED_TOKENS, FUSED_WIDTH, x);
    fused_arguments[FUSED_WEIGHT] = fused_tensor(FUSED_WEIGHT, 1, 1, FUSED_WIDTH, weight);
    fused_arguments[FUSED_W] = fused_tensor(FUSED_W, 2, FUSED_OUT, FUSED_WIDTH, w);
    fused_arguments[FUSED_EPS] =
        (struct case_argument){.name = "eps", .kind = TAPML_P_F64, .d = 1e-6};
    fused_arguments[FUSED_Y] = fused_tensor(FUSED_Y, 2, FUSED_TOKENS, FUSED_OUT, fused_y);
    fused_item = (struct carved_case){.instance = "layers.0",
                                      .op_name = fused.op.name,
                                      .op_version = 1,
                                      .phase = "prefill",
                                      .shape_class = "x=[2,4]",
                                      .tokens = FUSED_TOKENS,
                                      .arguments = fused_arguments,
                                      .argument_count = FUSED_PARAMS};
}

static inline void fused_case_begin(void)
{
    struct catalogue_op found;
    judged_store_begin();
    fused_init(&fused, FUSED_FORM);
    MUST(catalogue_add(registry_catalogue(plugins.registry), &fused.op, "a test", &found));
    fused_schema = found.schema;
    MUST(expanded_create(exact, registry_catalogue(plugins.registry), &by_form));
}

static inline void fused_case_end(void)
{
    expanded_destroy(by_form);
    judged_store_end();
}
