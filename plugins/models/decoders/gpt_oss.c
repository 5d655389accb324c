// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// GPT-OSS (arXiv 2508.10925): experts with biases and limited gates, one more score (sink) for each
// head, every other layer, from the first on, slides.
#include "describe.h"

#include <tapml/model/names.h>

const struct model_decoder describe_gpt_oss = {
    .model_type = "gpt_oss",
    .class_name = "GptOssForCausalLM",
    .keys =
        {
            MODEL_KEYS_SIZES,
            .head_width = "/head_dim",
            .eps = "/rms_norm_eps",
            .attention_biases = "/attention_bias",
        },
    .defaults =
        {
            .eps = 1e-5,
            .activation = "silu",
            .has_attention_biases = 1,
            .rope = {.theta = 150000, .positions = 131072},
        },
    .windows = {.window = "/sliding_window",
                .types = "/layer_types",
                .window_fallback = 128,
                .period = 2},
    .tensors =
        {
            MODEL_TENSORS_STREAM,
            MODEL_TENSORS_ATTENTION,
            .sinks = "model.layers.{i}.self_attn.sinks",
            .mlp_norm = "model.layers.{i}.post_attention_layernorm",
        },
    .experts =
        {
            .count = "/num_local_experts",
            .chosen = "/num_experts_per_tok",
            .width = "/intermediate_size",
            .count_fallback = 128,
            .chosen_fallback = 4,
            .routing = MODEL_ROUTING_TOPK,
            .kind = MODEL_EXPERTS_STACKED,
            .tensors = {.router = "model.layers.{i}.mlp.router",
                        .gate = "model.layers.{i}.mlp.experts.gate_up_proj",
                        .down = "model.layers.{i}.mlp.experts.down_proj"},
        },
    .ignored = {"/experts_per_token", "/initial_context_length"},
    .expected = {{"/swiglu_limit", "7.0"}, {"/hidden_act", "\"silu\""}},
};
