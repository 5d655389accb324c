// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Command R7B (arXiv 2504.00698): attention and MLP side by side on one norm without a bias; logits
// are multiplied; layers that slide are turned pair by pair, every fourth is full and not turned at
// all.
#include "describe.h"

const struct model_decoder describe_cohere2 = {
    .model_type = "cohere2",
    .class_name = "Cohere2ForCausalLM",
    .norm = MODEL_NORM_LAYER,
    .ropes = MODEL_ROPES_SLIDING,
    .is_rope_interleaved = 1,
    .keys =
        {
            .hidden = "/hidden_size",
            .layers = "/num_hidden_layers",
            .heads = "/num_attention_heads",
            .kv_heads = "/num_key_value_heads",
            .head_width = "/head_dim",
            .mlp_width = "/intermediate_size",
            .vocabulary = "/vocab_size",
            .eps = "/layer_norm_eps",
            .activation = "/hidden_act",
            .is_tied = "/tie_word_embeddings",
            .attention_biases = "/attention_bias",
            .logit_scale = "/logit_scale",
        },
    .defaults =
        {
            .eps = 1e-5,
            .activation = "silu",
            .is_tied = 1,
            .is_parallel = 1,
            .logit_scale = 0.0625,
            .rope = {.theta = 10000, .positions = 8192},
        },
    .windows = {.window = "/sliding_window",
                .types = "/layer_types",
                .periods = "/sliding_window_pattern|/_sliding_window_pattern",
                .window_fallback = 4096,
                .period = 4},
    .tensors =
        {
            .embed = "model.embed_tokens",
            .attention_norm = "model.layers.{i}.input_layernorm",
            .q = "model.layers.{i}.self_attn.q_proj",
            .k = "model.layers.{i}.self_attn.k_proj",
            .v = "model.layers.{i}.self_attn.v_proj",
            .o = "model.layers.{i}.self_attn.o_proj",
            .gate = "model.layers.{i}.mlp.gate_proj",
            .up = "model.layers.{i}.mlp.up_proj",
            .down = "model.layers.{i}.mlp.down_proj",
            .norm = "model.norm",
            .head = "lm_head",
        },
    .ignored = {"/cache_implementation", "/order_of_interleaved_layers", "/use_embedding_sharing"},
    .expected = {{"/use_qk_norm", "false"},
                 {"/use_gated_activation", "true"},
                 {"/use_parallel_block", "true"},
                 {"/use_parallel_embedding", "false"},
                 {"/position_embedding_type", "\"rope_gptj\""},
                 {"/rotary_pct", "1.0"}},
};
