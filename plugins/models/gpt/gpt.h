// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What GPT-2 and its descendants share: names and the factor of scores.
#pragma once

#include <tapml/model/block.h>

// Keys, as members of a struct model_decoder's `keys`: sizes, and what stands beside them.
#define GPT_KEYS                                                                                   \
    .hidden = "/n_embd|/hidden_size", .layers = "/n_layer|/num_hidden_layers",                     \
    .heads = "/n_head|/num_attention_heads", .mlp_width = "/n_inner", .vocabulary = "/vocab_size", \
    .eps = "/layer_norm_epsilon", .is_tied = "/tie_word_embeddings"

// What stands around the layers, the norm before attention.
#define GPT_TENSORS_STREAM                                                                         \
    .embed = "transformer.wte", .norm = "transformer.ln_f", .head = "lm_head",                     \
    .attention_norm = "transformer.h.{i}.ln_1"

// Attention with one tensor for queries, keys and values.
#define GPT_TENSORS_ATTENTION                                                                      \
    .qkv = "transformer.h.{i}.attn.c_attn", .o = "transformer.h.{i}.attn.c_proj"

// The MLP and its norm.
#define GPT_TENSORS_MLP                                                                            \
    .mlp_norm = "transformer.h.{i}.ln_2", .up = "transformer.h.{i}.mlp.c_fc",                      \
    .down = "transformer.h.{i}.mlp.c_proj"

// The MLP of GPT-J and CodeGen, which takes what attention took.
#define GPT_TENSORS_PARALLEL_MLP                                                                   \
    .up = "transformer.h.{i}.mlp.fc_in", .down = "transformer.h.{i}.mlp.fc_out"

// Scores are left as they are where "/scale_attn_weights" is false; and are divided by the layer's
// number where "/scale_attn_by_inverse_layer_idx" is true.
model_attention_fn gpt_scale;
model_attention_fn gpt_scale_by_layer;
