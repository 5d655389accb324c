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

// The same with a table of positions.
#define GPT_KEYS_TABLE                                                                             \
    GPT_KEYS, .activation = "/activation_function",                                                \
              .positions = "/n_positions|/max_position_embeddings"

// GPT-2: members of `defaults`.
#define GPT_DEFAULTS                                                                               \
    .sizes = {.hidden = 768, .layers = 12, .heads = 12, .vocabulary = 50257, .positions = 1024},   \
    .eps = 1e-5, .mlp_factor = 4, .is_tied = 1, .has_attention_biases = 1, .has_mlp_biases = 1

// Keys that files have beside those that the classes read: they have other names there.
#define GPT_UNREAD "/intermediate_size", "/hidden_act"

// GPT-J, of which CodeGen is a layout: members of a struct model_decoder.
#define GPT_J_FORM                                                                                 \
    .norm = MODEL_NORM_LAYER, .has_norm_biases = 1, .mlp = model_mlp_plain,                        \
    .is_rope_interleaved = 1, .keys = {GPT_KEYS, .activation = "/activation_function"},            \
    .defaults = {.sizes = {.hidden = 4096, .layers = 28, .heads = 16, .vocabulary = 50400},        \
                 .eps = 1e-5,                                                                      \
                 .activation = "gelu_new",                                                         \
                 .mlp_factor = 4,                                                                  \
                 .has_mlp_biases = 1,                                                              \
                 .has_head_bias = 1,                                                               \
                 .is_parallel = 1,                                                                 \
                 .rope = {.theta = 10000,                                                          \
                          .positions = 2048,                                                       \
                          .turned = "/rotary_dim",                                                 \
                          .turned_fallback = 64}},                                                 \
    .ignored = {"/n_positions", "/n_ctx", GPT_UNREAD},                                             \
    .expected = {{"/rotary", "true"}, {"/scale_attn_weights", "true"}}

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
