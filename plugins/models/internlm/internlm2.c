// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// InternLM2 (arXiv 2403.17297): Llama with one tensor of attention, in groups of heads.
#include <tapml/model/block.h>
#include <tapml/model/names.h>

const struct model_decoder describe_internlm2 = {
    .model_type = "internlm2",
    .class_name = "InternLM2ForCausalLM",
    .layout = model_layout_groups,
    .keys =
        {
            MODEL_KEYS_SIZES,
            .head_width = "/head_dim",
            .eps = "/rms_norm_eps",
            .activation = "/hidden_act",
            .attention_biases = "/bias",
        },
    .defaults =
        {
            .eps = 1e-6,
            .activation = "silu",
            .has_attention_biases = 1,
            .rope = {.theta = 10000, .positions = 2048},
        },
    .tensors =
        {
            .embed = "model.tok_embeddings",
            .norm = "model.norm",
            .head = "output",
            .attention_norm = "model.layers.{i}.attention_norm",
            .qkv = "model.layers.{i}.attention.wqkv",
            .o = "model.layers.{i}.attention.wo",
            .mlp_norm = "model.layers.{i}.ffn_norm",
            .gate = "model.layers.{i}.feed_forward.w1",
            .up = "model.layers.{i}.feed_forward.w3",
            .down = "model.layers.{i}.feed_forward.w2",
        },
};
