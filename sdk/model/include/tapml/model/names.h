// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The names of keys and tensors that most decoders share, for a struct model_decoder: members of
// its `keys` and `tensors`, to stand beside those that an architecture names itself.
#ifndef TAPML_MODEL_NAMES_H
#define TAPML_MODEL_NAMES_H

// Sizes.
#define MODEL_KEYS_SIZES                                                                           \
    .hidden = "/hidden_size", .layers = "/num_hidden_layers", .heads = "/num_attention_heads",     \
    .kv_heads = "/num_key_value_heads", .mlp_width = "/intermediate_size",                         \
    .vocabulary = "/vocab_size", .is_tied = "/tie_word_embeddings"

// What stands around the layers, and the norm before attention.
#define MODEL_TENSORS_STREAM                                                                       \
    .embed = "model.embed_tokens", .norm = "model.norm", .head = "lm_head",                        \
    .attention_norm = "model.layers.{i}.input_layernorm"

// Attention whose queries, keys and values are separate.
#define MODEL_TENSORS_ATTENTION                                                                    \
    .q = "model.layers.{i}.self_attn.q_proj", .k = "model.layers.{i}.self_attn.k_proj",            \
    .v = "model.layers.{i}.self_attn.v_proj", .o = "model.layers.{i}.self_attn.o_proj"

// Norms of the heads of queries and keys.
#define MODEL_TENSORS_HEAD_NORMS                                                                   \
    .q_norm = "model.layers.{i}.self_attn.q_norm", .k_norm = "model.layers.{i}.self_attn.k_norm"

// An MLP with a gate.
#define MODEL_TENSORS_MLP                                                                          \
    .gate = "model.layers.{i}.mlp.gate_proj", .up = "model.layers.{i}.mlp.up_proj",                \
    .down = "model.layers.{i}.mlp.down_proj"

// Experts whose tensors are separate: members of `experts.tensors`.
#define MODEL_TENSORS_EXPERTS                                                                      \
    .gate = "model.layers.{i}.mlp.experts.{e}.gate_proj",                                          \
    .up = "model.layers.{i}.mlp.experts.{e}.up_proj",                                              \
    .down = "model.layers.{i}.mlp.experts.{e}.down_proj"

#endif
