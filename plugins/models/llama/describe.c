// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Llama (arXiv 2302.13971, 2307.09288, 2407.21783): the ordinary decoder under its own names.
#include "describe.h"

const struct model_decoder describe_llama = {
    .model_type = "llama",
    .class_name = "LlamaForCausalLM",
    .keys =
        {
            .hidden = "/hidden_size",
            .layers = "/num_hidden_layers",
            .heads = "/num_attention_heads",
            .kv_heads = "/num_key_value_heads",
            .head_width = "/head_dim",
            .mlp_width = "/intermediate_size",
            .vocabulary = "/vocab_size",
            .eps = "/rms_norm_eps",
            .activation = "/hidden_act",
            .is_tied = "/tie_word_embeddings",
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
            .embed = "model.embed_tokens",
            .attention_norm = "model.layers.{i}.input_layernorm",
            .q = "model.layers.{i}.self_attn.q_proj",
            .k = "model.layers.{i}.self_attn.k_proj",
            .v = "model.layers.{i}.self_attn.v_proj",
            .o = "model.layers.{i}.self_attn.o_proj",
            .mlp_norm = "model.layers.{i}.post_attention_layernorm",
            .gate = "model.layers.{i}.mlp.gate_proj",
            .up = "model.layers.{i}.mlp.up_proj",
            .down = "model.layers.{i}.mlp.down_proj",
            .norm = "model.norm",
            .head = "lm_head",
        },
};
