// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// GPT-2 (Radford et al., 2019): a learned table of positions, layer norms, one tensor for queries,
// keys and values, weights stored [in, out]. Many files leave "transformer." out of the names.
#include "describe.h"

const struct model_decoder describe_gpt2 = {
    .model_type = "gpt2",
    .class_name = "GPT2LMHeadModel",
    .prefix = "transformer.",
    .norm = MODEL_NORM_LAYER,
    .has_norm_biases = 1,
    .qkv = MODEL_QKV_BLOCKS,
    .mlp = MODEL_MLP_PLAIN,
    .ropes = MODEL_ROPES_NONE,
    .is_transposed = 1,
    .keys =
        {
            .hidden = "/n_embd",
            .layers = "/n_layer",
            .heads = "/n_head",
            .mlp_width = "/n_inner",
            .vocabulary = "/vocab_size",
            .eps = "/layer_norm_epsilon",
            .activation = "/activation_function",
            .is_tied = "/tie_word_embeddings",
            .positions = "/n_positions",
            .is_scaled = "/scale_attn_weights",
            .is_scaled_by_layer = "/scale_attn_by_inverse_layer_idx",
        },
    .defaults =
        {
            .eps = 1e-5,
            .activation = "gelu_new",
            .mlp_factor = 4,
            .is_tied = 1,
            .has_attention_biases = 1,
            .has_mlp_biases = 1,
        },
    .tensors =
        {
            .embed = "transformer.wte",
            .positions = "transformer.wpe",
            .attention_norm = "transformer.h.{i}.ln_1",
            .qkv = "transformer.h.{i}.attn.c_attn",
            .o = "transformer.h.{i}.attn.c_proj",
            .mlp_norm = "transformer.h.{i}.ln_2",
            .up = "transformer.h.{i}.mlp.c_fc",
            .down = "transformer.h.{i}.mlp.c_proj",
            .norm = "transformer.ln_f",
            .head = "lm_head",
        },
    .ignored = {"/n_ctx"},
};
