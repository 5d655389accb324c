// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// GPT-NeoX (arXiv 2204.06745): attention and MLP side by side, each on its own norm; a quarter of
// each head is turned; one tensor holds query, key and value of one head after the other.
#include <tapml/model/block.h>

const struct model_decoder describe_gpt_neox = {
    .model_type = "gpt_neox",
    .class_name = "GPTNeoXForCausalLM",
    .norm = MODEL_NORM_LAYER,
    .has_norm_biases = 1,
    .layout = model_layout_whole,
    .mlp = model_mlp_plain,
    .keys =
        {
            .hidden = "/hidden_size",
            .layers = "/num_hidden_layers",
            .heads = "/num_attention_heads",
            .head_width = "/head_dim",
            .mlp_width = "/intermediate_size",
            .vocabulary = "/vocab_size",
            .eps = "/layer_norm_eps",
            .activation = "/hidden_act",
            .is_tied = "/tie_word_embeddings",
            .attention_biases = "/attention_bias",
            .is_parallel = "/use_parallel_residual",
        },
    .defaults =
        {
            .eps = 1e-5,
            .activation = "gelu",
            .has_attention_biases = 1,
            .has_mlp_biases = 1,
            .is_parallel = 1,
            .rope = {.theta = 10000,
                     .positions = 2048,
                     .share = 0.25,
                     .base = "/rotary_emb_base|/rope_theta",
                     .shares = "/rotary_pct|/partial_rotary_factor"},
        },
    .tensors =
        {
            .embed = "gpt_neox.embed_in",
            .attention_norm = "gpt_neox.layers.{i}.input_layernorm",
            .qkv = "gpt_neox.layers.{i}.attention.query_key_value",
            .o = "gpt_neox.layers.{i}.attention.dense",
            .mlp_norm = "gpt_neox.layers.{i}.post_attention_layernorm",
            .up = "gpt_neox.layers.{i}.mlp.dense_h_to_4h",
            .down = "gpt_neox.layers.{i}.mlp.dense_4h_to_h",
            .norm = "gpt_neox.final_layer_norm",
            .head = "embed_out",
            .newer_head = "lm_head",
        },
};
