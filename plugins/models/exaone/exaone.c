// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// EXAONE 3 (arXiv 2408.03541): Llama under names of its own.
#include <tapml/model/block.h>
#include <tapml/model/names.h>

const struct model_decoder describe_exaone = {
    .model_type = "exaone",
    .class_name = "ExaoneForCausalLM",
    .keys =
        {
            .hidden = "/hidden_size",
            .layers = "/num_layers|/num_hidden_layers",
            .heads = "/num_attention_heads",
            .kv_heads = "/num_key_value_heads",
            .head_width = "/head_dim",
            .mlp_width = "/intermediate_size",
            .vocabulary = "/vocab_size",
            .is_tied = "/tie_word_embeddings",
            .eps = "/layer_norm_epsilon",
            .activation = "/activation_function",
        },
    .defaults =
        {
            .eps = 1e-5,
            .activation = "silu",
            .rope = {.theta = 10000, .positions = 2048},
        },
    .tensors =
        {
            .embed = "transformer.wte",
            .norm = "transformer.ln_f",
            .head = "lm_head",
            .attention_norm = "transformer.h.{i}.ln_1",
            .q = "transformer.h.{i}.attn.attention.q_proj",
            .k = "transformer.h.{i}.attn.attention.k_proj",
            .v = "transformer.h.{i}.attn.attention.v_proj",
            .o = "transformer.h.{i}.attn.attention.out_proj",
            .mlp_norm = "transformer.h.{i}.ln_2",
            .gate = "transformer.h.{i}.mlp.c_fc_0",
            .up = "transformer.h.{i}.mlp.c_fc_1",
            .down = "transformer.h.{i}.mlp.c_proj",
        },
};
