// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// DeepSeek-V2 (arXiv 2405.04434): latent attention, shared experts beside routed ones, whose
// weights are never renormalised: Hugging Face does not read norm_topk_prob.
#include "describe.h"

const struct model_decoder describe_deepseek_v2 = {
    .model_type = "deepseek_v2",
    .class_name = "DeepseekV2ForCausalLM",
    .is_rope_interleaved = 1,
    .keys =
        {
            .hidden = "/hidden_size",
            .layers = "/num_hidden_layers",
            .heads = "/num_attention_heads",
            .kv_heads = "/num_key_value_heads",
            .mlp_width = "/intermediate_size",
            .vocabulary = "/vocab_size",
            .eps = "/rms_norm_eps",
            .activation = "/hidden_act",
            .is_tied = "/tie_word_embeddings",
            .attention_biases = "/attention_bias",
            .mlp_biases = "/mlp_bias",
        },
    .defaults = {.eps = 1e-6,
                 .activation = "silu",
                 .rope = {.theta = 10000, .width = "qk_rope_head_dim", .positions = 2048}},
    .tensors =
        {
            .embed = "model.embed_tokens",
            .attention_norm = "model.layers.{i}.input_layernorm",
            .q = "model.layers.{i}.self_attn.q_proj",
            .o = "model.layers.{i}.self_attn.o_proj",
            .mlp_norm = "model.layers.{i}.post_attention_layernorm",
            .gate = "model.layers.{i}.mlp.gate_proj",
            .up = "model.layers.{i}.mlp.up_proj",
            .down = "model.layers.{i}.mlp.down_proj",
            .norm = "model.norm",
            .head = "lm_head",
        },
    .latent =
        {
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
        },
    .experts =
        {
            .count = "/n_routed_experts",
            .chosen = "/num_experts_per_tok",
            .width = "/moe_intermediate_size",
            .first = "/first_k_dense_replace",
            .factor = "/routed_scaling_factor",
            .shared = "/n_shared_experts",
            .groups = "/n_group",
            .kept_groups = "/topk_group",
            .method = "/topk_method",
            .count_fallback = 64,
            .width_fallback = 1407,
            .shared_fallback = 2,
            .factor_fallback = 1,
            .tensors = {.router = "model.layers.{i}.mlp.gate",
                        .gate = "model.layers.{i}.mlp.experts.{e}.gate_proj",
                        .up = "model.layers.{i}.mlp.experts.{e}.up_proj",
                        .down = "model.layers.{i}.mlp.experts.{e}.down_proj",
                        .shared_gate = "model.layers.{i}.mlp.shared_experts.gate_proj",
                        .shared_up = "model.layers.{i}.mlp.shared_experts.up_proj",
                        .shared_down = "model.layers.{i}.mlp.shared_experts.down_proj"},
        },
    .ignored = {"/head_dim", "/norm_topk_prob", "/aux_loss_alpha", "/seq_aux", "/ep_size"},
    .expected = {{"/moe_layer_freq", "1"}, {"/scoring_func", "\"softmax\""}},
};
