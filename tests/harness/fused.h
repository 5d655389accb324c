// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// An op that no plugin has, with a plain form: y = linear(rms_norm(x, weight), w) over [T, width].
#pragma once

#include <tapml/op.h>

#define FUSED_FORM                                                                                 \
    "norm: tapml.rms_norm(x = x, weight = weight, eps = eps, offset = 0, y = h); "                 \
    "q: tapml.linear@1(x = h, w = w, transposed = 0, y = y)"

enum { FUSED_X, FUSED_WEIGHT, FUSED_W, FUSED_EPS, FUSED_Y, FUSED_PARAMS };

struct fused {
    tapml_param params[FUSED_PARAMS];
    const tapml_param *list[FUSED_PARAMS];
    tapml_op op;
};

static inline void fused_init(struct fused *fused, const char *form)
{
    static const char *const names[] = {"x", "weight", "w", "eps", "y"};
    static const char *const shapes[] = {"T, width", "width", "out, width", NULL, "T, out"};
    for (int p = 0; p < FUSED_PARAMS; p++) {
        const int is_weight = p == FUSED_WEIGHT || p == FUSED_W;
        fused->params[p] = (tapml_param){
            .hdr = TAPML_HDR(tapml_param),
            .name = names[p],
            .kind = p == FUSED_EPS ? TAPML_P_F64
                    : p == FUSED_Y ? TAPML_P_TENSOR_OUT
                                   : TAPML_P_TENSOR_IN,
            .effects = is_weight ? TAPML_E_WEIGHT : 0,
            .dtype = p == FUSED_EPS ? NULL : "f32 f16",
            .shape = shapes[p],
            .layout = p == FUSED_EPS ? NULL : "dense",
        };
        fused->list[p] = &fused->params[p];
    }
    fused->op = (tapml_op){.hdr = TAPML_HDR(tapml_op),
                           .name = "group.test.00000000",
                           .version = 1,
                           .n_params = FUSED_PARAMS,
                           .params = fused->list,
                           .title = "rms_norm + linear",
                           .tolerance = "reduction",
                           .expands = form};
}
