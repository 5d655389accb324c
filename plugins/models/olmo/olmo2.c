// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// OLMo 2 (arXiv 2501.00656): norms behind both halves of a layer and none before them; all heads of
// the queries are normalised as one row, and so are those of the keys.
#include <tapml/model/block.h>
#include <tapml/model/names.h>

const struct model_decoder describe_olmo2 = {
    .model_type = "olmo2",
    .class_name = "Olmo2ForCausalLM",
    .head_steps = {model_heads_norm_rows, model_heads_turn},
    .keys =
        {
            MODEL_KEYS_SIZES,
            .head_width = "/head_dim",
            .eps = "/rms_norm_eps",
            .activation = "/hidden_act",
            .attention_biases = "/attention_bias",
        },
    .defaults =
        {
            .sizes = {.hidden = 4096,
                      .layers = 32,
                      .heads = 32,
                      .mlp_width = 11008,
                      .vocabulary = 50304},
            .eps = 1e-5,
            .activation = "silu",
            .rope = {.theta = 10000, .positions = 2048},
        },
    .tensors =
        {
            MODEL_TENSORS_STREAM_BARE,
            MODEL_TENSORS_ATTENTION,
            MODEL_TENSORS_HEAD_NORMS,
            .attention_norm_after = "model.layers.{i}.post_attention_layernorm",
            MODEL_TENSORS_MLP,
            .mlp_norm_after = "model.layers.{i}.post_feedforward_layernorm",
        },
};
