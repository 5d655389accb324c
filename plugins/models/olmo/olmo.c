// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// OLMo (arXiv 2402.00838): Llama with layer norms that have no weights, and an eps that no config
// changes; queries, keys and values may be limited.
#include "olmo.h"

const struct model_decoder describe_olmo = {
    .model_type = "olmo",
    .class_name = "OlmoForCausalLM",
    .norm = MODEL_NORM_LAYER,
    .head_steps = {model_heads_clip, model_heads_turn},
    .keys =
        {
            MODEL_KEYS_SIZES,
            .head_width = "/head_dim",
            .activation = "/hidden_act",
            .attention_biases = "/attention_bias",
        },
    .defaults =
        {
            OLMO_DEFAULTS,
            .has_bare_norms = 1,
            .rope = {.theta = 10000, .positions = 2048},
        },
    .tensors = {MODEL_TENSORS_LLAMA},
    .ignored = {"/rms_norm_eps"}, // Its norms have an eps of their own.
};
