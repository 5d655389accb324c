// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Command R7B (arXiv 2504.00698): attention and MLP side by side on one norm without a bias; logits
// are multiplied; layers that slide are turned pair by pair, every fourth is full and not turned at
// all.
#include "cohere.h"

#include <tapml/model/names.h>

const struct model_decoder describe_cohere2 = {
    .model_type = "cohere2",
    .class_name = "Cohere2ForCausalLM",
    .norm = MODEL_NORM_LAYER,
    .ropes = MODEL_ROPES_SLIDING,
    .is_rope_interleaved = 1,
    .logit_steps = {cohere_scale_logits},
    .keys =
        {
            MODEL_KEYS_SIZES,
            .head_width = "/head_dim",
            .eps = "/layer_norm_eps",
            .activation = "/hidden_act",
            .attention_biases = "/attention_bias",
        },
    .defaults =
        {
            .eps = 1e-5,
            .activation = "silu",
            .is_tied = 1,
            .is_parallel = 1,
            .rope = {.theta = 10000, .positions = 8192},
        },
    .windows = {.window = "/sliding_window",
                .types = "/layer_types",
                .periods = "/sliding_window_pattern|/_sliding_window_pattern|/layer_switch",
                .window_fallback = 4096,
                .period = 4},
    .tensors =
        {
            MODEL_TENSORS_STREAM,
            MODEL_TENSORS_ATTENTION,
            MODEL_TENSORS_MLP,
        },
    .ignored = {"/cache_implementation", "/order_of_interleaved_layers", "/use_embedding_sharing",
                "/use_parallel_embedding"},
    .expected = {{"/use_qk_norm", "false"},
                 {"/use_gated_activation", "true"},
                 {"/use_parallel_block", "true"},
                 {"/position_embedding_type", "\"rope_gptj\""},
                 {"/rotary_pct", "1.0"}},
};
