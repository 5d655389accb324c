// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Qwen3 with experts (arXiv 2505.09388): Qwen3 whose MLPs are mixtures of experts, but in the
// layers that the config names.
#include "describe.h"

const struct model_decoder describe_qwen3_moe = {
    .model_type = "qwen3_moe",
    .class_name = "Qwen3MoeForCausalLM",
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
        },
    .defaults =
        {
            .eps = 1e-6,
            .activation = "silu",
            .rope = {.theta = 10000, .positions = 32768},
        },
    .windows = {.window = "/sliding_window",
                .is_used = "/use_sliding_window",
                .window_fallback = 4096},
    .tensors =
        {
            .embed = "model.embed_tokens",
            .attention_norm = "model.layers.{i}.input_layernorm",
            .q = "model.layers.{i}.self_attn.q_proj",
            .k = "model.layers.{i}.self_attn.k_proj",
            .v = "model.layers.{i}.self_attn.v_proj",
            .q_norm = "model.layers.{i}.self_attn.q_norm",
            .k_norm = "model.layers.{i}.self_attn.k_norm",
            .o = "model.layers.{i}.self_attn.o_proj",
            .mlp_norm = "model.layers.{i}.post_attention_layernorm",
            .gate = "model.layers.{i}.mlp.gate_proj",
            .up = "model.layers.{i}.mlp.up_proj",
            .down = "model.layers.{i}.mlp.down_proj",
            .norm = "model.norm",
            .head = "lm_head",
        },
    .experts =
        {
            .count = "/num_local_experts|/num_experts",
            .chosen = "/num_experts_per_tok",
            .width = "/moe_intermediate_size",
            .period = "/decoder_sparse_step",
            .dense = "/mlp_only_layers",
            .renormalises = "/norm_topk_prob",
            .count_fallback = 128,
            .chosen_fallback = 8,
            .width_fallback = 768,
            .tensors = {.router = "model.layers.{i}.mlp.gate",
                        .gate = "model.layers.{i}.mlp.experts.{e}.gate_proj",
                        .up = "model.layers.{i}.mlp.experts.{e}.up_proj",
                        .down = "model.layers.{i}.mlp.experts.{e}.down_proj"},
        },
    .ignored = {"/max_window_layers"},
};
