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

// What stands around the layers; and the norm before attention besides.
#define MODEL_TENSORS_STREAM_BARE                                                                  \
    .embed = "model.embed_tokens", .norm = "model.norm", .head = "lm_head"

#define MODEL_TENSORS_STREAM                                                                       \
    MODEL_TENSORS_STREAM_BARE, .attention_norm = "model.layers.{i}.input_layernorm"

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

// The same with a router, and with experts that every token takes.
#define MODEL_TENSORS_SHARED_EXPERTS                                                               \
    MODEL_TENSORS_EXPERTS, .router = "model.layers.{i}.mlp.gate",                                  \
                           .shared_gate = "model.layers.{i}.mlp.shared_experts.gate_proj",         \
                           .shared_up = "model.layers.{i}.mlp.shared_experts.up_proj",             \
                           .shared_down = "model.layers.{i}.mlp.shared_experts.down_proj"

// The experts of Mixtral, and their router.
#define MODEL_TENSORS_BLOCK_EXPERTS                                                                \
    .router = "model.layers.{i}.block_sparse_moe.gate",                                            \
    .gate = "model.layers.{i}.block_sparse_moe.experts.{e}.w1",                                    \
    .up = "model.layers.{i}.block_sparse_moe.experts.{e}.w3",                                      \
    .down = "model.layers.{i}.block_sparse_moe.experts.{e}.w2"

// Keys of experts in groups, as DeepSeek calls them: members of `experts`.
#define MODEL_KEYS_GROUPED_EXPERTS                                                                 \
    .count = "/n_routed_experts|/num_local_experts", .chosen = "/num_experts_per_tok",             \
    .width = "/moe_intermediate_size", .first = "/first_k_dense_replace",                          \
    .factor = "/routed_scaling_factor", .shared = "/n_shared_experts", .groups = "/n_group",       \
    .kept_groups = "/topk_group"

// What most decoders since Llama have: sizes, and what stands beside them.
#define MODEL_KEYS_USUAL                                                                           \
    MODEL_KEYS_SIZES, .head_width = "/head_dim", .eps = "/rms_norm_eps",                           \
                      .activation = "/hidden_act", .attention_biases = "/attention_bias"

// Llama: members of `keys`, of `defaults` and of `tensors`.
#define MODEL_KEYS_LLAMA MODEL_KEYS_USUAL, .mlp_biases = "/mlp_bias"

#define MODEL_DEFAULTS_LLAMA                                                                       \
    .eps = 1e-6, .activation = "silu", .rope = {.theta = 10000, .positions = 2048}

#define MODEL_TENSORS_LLAMA                                                                        \
    MODEL_TENSORS_STREAM, MODEL_TENSORS_ATTENTION,                                                 \
        .mlp_norm = "model.layers.{i}.post_attention_layernorm", MODEL_TENSORS_MLP

#endif
