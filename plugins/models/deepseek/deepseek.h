// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What DeepSeek-V2 and V3 share: latent attention, and experts beside those of every token.
#pragma once

#include <tapml/model/block.h>
#include <tapml/model/names.h>

static const struct model_decoder_latent deepseek_latent = {
    .rank = "/kv_lora_rank",
    .query_rank = "/q_lora_rank",
    .plain_width = "/qk_nope_head_dim",
    .turned_width = "/qk_rope_head_dim",
    .value_width = "/v_head_dim",
    .rank_fallback = 512,
    .query_rank_fallback = 1536,
    .plain_fallback = 128,
    .turned_fallback = 64,
    .value_fallback = 128,
    .eps = 1e-6,
    .tensors = {.q_down = "model.layers.{i}.self_attn.q_a_proj",
                .q_norm = "model.layers.{i}.self_attn.q_a_layernorm",
                .q_up = "model.layers.{i}.self_attn.q_b_proj",
                .kv_down = "model.layers.{i}.self_attn.kv_a_proj_with_mqa",
                .kv_norm = "model.layers.{i}.self_attn.kv_a_layernorm",
                .kv_up = "model.layers.{i}.self_attn.kv_b_proj"},
};

// Members of a struct model_decoder. The experts are the description's own.
#define DEEPSEEK_FORM                                                                              \
    .heads = model_heads_latent, .attention = model_attention_latent, .latent = &deepseek_latent,  \
    .experts = &experts, .is_rope_interleaved = 1

// Members of its `keys` and `tensors`.
#define DEEPSEEK_KEYS                                                                              \
    MODEL_KEYS_SIZES, .eps = "/rms_norm_eps", .activation = "/hidden_act",                         \
                      .attention_biases = "/attention_bias"

#define DEEPSEEK_TENSORS                                                                           \
    MODEL_TENSORS_STREAM,                                                                          \
        .q = "model.layers.{i}.self_attn.q_proj", .o = "model.layers.{i}.self_attn.o_proj",        \
        .mlp_norm = "model.layers.{i}.post_attention_layernorm", MODEL_TENSORS_MLP
