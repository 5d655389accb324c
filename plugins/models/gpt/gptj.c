// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// GPT-J (Wang and Komatsuzaki, 2021): attention and MLP side by side on one norm; the first values
// of each head are turned pair by pair; the head has a bias.
#include "gpt.h"

const struct model_decoder describe_gptj = {
    .model_type = "gptj",
    .class_name = "GPTJForCausalLM",
    .norm = MODEL_NORM_LAYER,
    .has_norm_biases = 1,
    .mlp = model_mlp_plain,
    .is_rope_interleaved = 1,
    .keys = {GPT_KEYS, .activation = "/activation_function"},
    .defaults =
        {
            .sizes = {.hidden = 4096, .layers = 28, .heads = 16, .vocabulary = 50400},
            .eps = 1e-5,
            .activation = "gelu_new",
            .mlp_factor = 4,
            .has_mlp_biases = 1,
            .has_head_bias = 1,
            .is_parallel = 1,
            .rope =
                {.theta = 10000, .positions = 2048, .turned = "/rotary_dim", .turned_fallback = 64},
        },
    .tensors =
        {
            GPT_TENSORS_STREAM,
            .q = "transformer.h.{i}.attn.q_proj",
            .k = "transformer.h.{i}.attn.k_proj",
            .v = "transformer.h.{i}.attn.v_proj",
            .o = "transformer.h.{i}.attn.out_proj",
            GPT_TENSORS_PARALLEL_MLP,
        },
    .ignored = {"/n_positions", "/n_ctx"},
    .expected = {{"/rotary", "true"}, {"/scale_attn_weights", "true"}},
};
