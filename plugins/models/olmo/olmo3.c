// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// OLMo 3 (arXiv 2512.13961): OLMo 2 in which every fourth layer is full and the others slide. What
// stretches positions is for the full layers only; those that slide have the plain rope of the same
// base. Newer files say so themselves, with a section for each.
#include "olmo.h"

// Without a window and a list of layers all are full.
static void resize(struct model_context *context, struct model_sizes *sizes)
{
    (void)context;
    if (sizes->window == 0 && !sizes->has_types) {
        sizes->ropes_used = MODEL_ROPES_ALL;
    }
}

const struct model_decoder describe_olmo3 = {
    .model_type = "olmo3",
    .class_name = "Olmo3ForCausalLM",
    .resize = resize,
    .head_steps = {model_heads_norm_rows, model_heads_turn},
    .ropes = MODEL_ROPES_BY_LAYER,
    .keys = {MODEL_KEYS_USUAL},
    .defaults =
        {
            OLMO_DEFAULTS,
            .rope =
                {
                    .theta = 10000,
                    .positions = 2048,
                    .newer = "/rope_parameters/full_attention|/rope_parameters",
                },
            .local_rope =
                {
                    .theta = 10000,
                    .positions = 2048,
                    .newer = "/rope_parameters/sliding_attention",
                    .older = "/rope_parameters/sliding_attention",
                    .base = "/rope_parameters/rope_theta|/rope_theta",
                },
        },
    .windows = {.window = "/sliding_window",
                .types = "/layer_types",
                .periods = "/sliding_window_pattern|/_sliding_window_pattern",
                .window_fallback = 4096,
                .period = 4},
    .tensors = {OLMO_TENSORS},
};
