// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A question about the plans of a model of four layers, each with a norm, a product, an activation
// and a sum, over a source and two targets: products are fast on 'gpu', norms on 'npu', where sums
// may not run.
#pragma once

#include "base/arena.h"

#include <tapml/draft/policy.h>
#include <tapml/ops.h>

#include <criterion/criterion.h>
#include <stdio.h>

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

enum { MADE_LAYERS = 4, MADE_KINDS = 4, MADE_OPS = MADE_LAYERS * MADE_KINDS, MADE_PLACES = 3 };

struct made_ops {
    tapml_policy_ops question;
    tapml_policy_op ops[MADE_OPS];
    const tapml_policy_op *list[MADE_OPS];
    char names[MADE_OPS][48];
    double times[MADE_OPS][MADE_PLACES];
    uint8_t may_run[MADE_OPS][MADE_PLACES];
};

static inline void made_ops_init(struct made_ops *made)
{
    static const char *const places[] = {"source", "gpu", "npu"};
    static const char *const parts[] = {"attn/norm", "attn/product", "mlp/act", "mlp/sum"};
    static const double times[MADE_KINDS][MADE_PLACES] = {
        {10e3, 8e3, 2e3}, {100e3, 20e3, 60e3}, {10e3, 12e3, 15e3}, {5e3, 5e3, 1e3}};
    const tapml_op *const kinds[] = {&tapml_rms_norm, &tapml_linear, &tapml_silu, &tapml_add};

    for (int i = 0; i < MADE_OPS; i++) {
        const int kind = i % MADE_KINDS;
        (void)snprintf(made->names[i], sizeof(made->names[i]), "layers.%d/%s", i / MADE_KINDS,
                       parts[kind]);
        for (int place = 0; place < MADE_PLACES; place++) {
            made->times[i][place] = times[kind][place];
            made->may_run[i][place] = kind != 3 || place != 2;
        }
        made->ops[i] = (tapml_policy_op){.hdr = TAPML_HDR(tapml_policy_op),
                                         .op = kinds[kind],
                                         .instance = made->names[i],
                                         .time_ns = made->times[i],
                                         .may_run = made->may_run[i]};
        made->list[i] = &made->ops[i];
    }
    made->question = (tapml_policy_ops){.hdr = TAPML_HDR(tapml_policy_ops),
                                        .places = places,
                                        .ops = made->list,
                                        .n_places = MADE_PLACES,
                                        .n_ops = MADE_OPS,
                                        .count_max = 64};
}
