// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Llama (arXiv 2302.13971, 2307.09288, 2407.21783): the ordinary decoder under its own names.

#include <tapml/model/block.h>
#include <tapml/model/names.h>

const struct model_decoder describe_llama = {
    .model_type = "llama",
    .class_name = "LlamaForCausalLM",
    .keys =
        {
            MODEL_KEYS_SIZES,
            .head_width = "/head_dim",
            .eps = "/rms_norm_eps",
            .activation = "/hidden_act",
            .attention_biases = "/attention_bias",
            .mlp_biases = "/mlp_bias",
        },
    .defaults =
        {
            .eps = 1e-6,
            .activation = "silu",
            .rope = {.theta = 10000, .positions = 2048},
        },
    .tensors =
        {
            MODEL_TENSORS_STREAM,
            MODEL_TENSORS_ATTENTION,
            .mlp_norm = "model.layers.{i}.post_attention_layernorm",
            MODEL_TENSORS_MLP,
        },
};
