// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Nemotron-4 and Minitron (arXiv 2402.16819, 2407.14679): layer norms that multiply by 1 + weight;
// an MLP of two tensors with a squared relu between them; half of each head is turned.
#include <tapml/model/block.h>
#include <tapml/model/names.h>

const struct model_decoder describe_nemotron = {
    .model_type = "nemotron",
    .class_name = "NemotronForCausalLM",
    .norm = MODEL_NORM_LAYER,
    .norm_offset = 1,
    .has_norm_biases = 1,
    .mlp = model_mlp_plain,
    .keys =
        {
            MODEL_KEYS_SIZES,
            .head_width = "/head_dim",
            .eps = "/norm_eps",
            .activation = "/hidden_act",
            .attention_biases = "/attention_bias",
            .mlp_biases = "/mlp_bias",
        },
    .defaults =
        {
            .sizes = {.hidden = 6144,
                      .layers = 32,
                      .heads = 48,
                      .mlp_width = 24576,
                      .vocabulary = 256000},
            .eps = 1e-5,
            .activation = "relu2",
            .rope = {.theta = 10000,
                     .positions = 4096,
                     .share = 0.5,
                     .shares = "/partial_rotary_factor|/rope_percent|/rotary_percent"},
        },
    .tensors =
        {
            MODEL_TENSORS_STREAM,
            MODEL_TENSORS_ATTENTION,
            .mlp_norm = "model.layers.{i}.post_attention_layernorm",
            .up = "model.layers.{i}.mlp.up_proj",
            .down = "model.layers.{i}.mlp.down_proj",
        },
    .ignored = {"/kv_channels"},
};
