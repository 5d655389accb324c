// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Arcee: Llama without a gate in its MLP, whose activation is the square of relu.
#include <tapml/model/block.h>
#include <tapml/model/names.h>

const struct model_decoder describe_arcee = {
    .model_type = "arcee",
    .class_name = "ArceeForCausalLM",
    .mlp = model_mlp_plain,
    .keys = {MODEL_KEYS_LLAMA},
    .defaults =
        {
            .eps = 1e-5,
            .activation = "relu2",
            .rope = {.theta = 10000, .positions = 4096},
        },
    .tensors =
        {
            MODEL_TENSORS_STREAM,
            MODEL_TENSORS_ATTENTION,
            .mlp_norm = "model.layers.{i}.post_attention_layernorm",
            .up = "model.layers.{i}.mlp.up_proj",
            .down = "model.layers.{i}.mlp.down_proj",
        },
};
