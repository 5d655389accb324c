// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Mixtral (arXiv 2401.04088): Mistral with experts in every layer; weights of those that are chosen
// add up to 1.
#include <tapml/model/block.h>
#include <tapml/model/names.h>

static const struct model_decoder_experts experts = {
    .count = "/num_local_experts|/num_experts",
    .chosen = "/num_experts_per_tok",
    .width = "/intermediate_size",
    .count_fallback = 8,
    .chosen_fallback = 2,
    .renormalises_fallback = 1,
    .tensors = {MODEL_TENSORS_BLOCK_EXPERTS},
};

const struct model_decoder describe_mixtral = {
    .model_type = "mixtral",
    .class_name = "MixtralForCausalLM",
    .keys =
        {
            MODEL_KEYS_SIZES,
            .head_width = "/head_dim",
            .eps = "/rms_norm_eps",
            .activation = "/hidden_act",
        },
    .defaults =
        {
            .eps = 1e-5,
            .activation = "silu",
            .rope = {.theta = 1e6, .positions = 131072},
        },
    .windows = {.window = "/sliding_window"},
    .tensors =
        {
            MODEL_TENSORS_STREAM,
            MODEL_TENSORS_ATTENTION,
            .mlp_norm = "model.layers.{i}.post_attention_layernorm",
        },
    .experts = &experts,
    .ignored = {"/router_jitter_noise"},
};
