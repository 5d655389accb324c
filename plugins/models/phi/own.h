// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What the two layouts of Phi's own code share: members of a struct model_decoder.
#pragma once

#include <tapml/model/block.h>

// Attention and MLP side by side on one layer norm, one tensor for queries, keys and values.
#define OWN_FORM                                                                                   \
    .norm = MODEL_NORM_LAYER, .has_norm_biases = 1, .layout = model_layout_blocks,                 \
    .mlp = model_mlp_plain

#define OWN_KEYS                                                                                   \
    .hidden = "/n_embd", .layers = "/n_layer", .heads = "/n_head", .kv_heads = "/n_head_kv",       \
    .mlp_width = "/n_inner", .vocabulary = "/vocab_size", .eps = "/layer_norm_epsilon",            \
    .activation = "/activation_function", .is_tied = "/tie_word_embeddings"

#define OWN_DEFAULTS                                                                               \
    .sizes = {.hidden = 1024, .layers = 20, .heads = 16, .vocabulary = 50304}, .eps = 1e-5,        \
    .activation = "gelu_new", .mlp_factor = 4, .has_attention_biases = 1, .has_mlp_biases = 1,     \
    .has_head_bias = 1, .is_parallel = 1,                                                          \
    .rope = {.theta = 10000, .positions = 2048, .turned = "/rotary_dim", .turned_fallback = 32}

// How it is computed, and which modules there are: only one kind of each was released.
#define OWN_IGNORED                                                                                \
    "/n_positions", "/flash_attn", "/flash_rotary", "/fused_dense", "/phyagi_version"

#define OWN_EXPECTED                                                                               \
    {"/embd_layer", "\"default\""},                                                                \
    {                                                                                              \
        "/architecture",                                                                           \
            "{\"block_cls\": \"parallel\", \"mixer\": {}, \"mlp\": {\"mlp_cls\": \"mlp\"}}"        \
    }
