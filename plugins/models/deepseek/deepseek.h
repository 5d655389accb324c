// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What DeepSeek-V2 and V3 share, as members of a struct model_decoder and of its experts.
#pragma once

#include <tapml/model/block.h>
#include <tapml/model/names.h>

// Latent attention.
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

// Of the experts: keys,
#define DEEPSEEK_EXPERT_KEYS                                                                       \
    .count = "/n_routed_experts", .chosen = "/num_experts_per_tok",                                \
    .width = "/moe_intermediate_size", .first = "/first_k_dense_replace",                          \
    .factor = "/routed_scaling_factor", .shared = "/n_shared_experts", .groups = "/n_group",       \
    .kept_groups = "/topk_group"

// and its tensors.
#define DEEPSEEK_EXPERT_TENSORS                                                                    \
    MODEL_TENSORS_EXPERTS, .router = "model.layers.{i}.mlp.gate",                                  \
                           .shared_gate = "model.layers.{i}.mlp.shared_experts.gate_proj",         \
                           .shared_up = "model.layers.{i}.mlp.shared_experts.up_proj",             \
                           .shared_down = "model.layers.{i}.mlp.shared_experts.down_proj"
