// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// DeepSeek-V3 and R1 (arXiv 2412.19437): latent attention; experts are chosen by sigmoids with a
// bias, from the best groups, beside shared ones.
#include "deepseek.h"

static const struct model_decoder_experts experts = {
    MODEL_KEYS_GROUPED_EXPERTS,
    .renormalises = "/norm_topk_prob",
    .routing = MODEL_ROUTING_SIGMOID,
    .count_fallback = 256,
    .chosen_fallback = 8,
    .width_fallback = 2048,
    .first_fallback = 3,
    .shared_fallback = 1,
    .groups_fallback = 8,
    .kept_groups_fallback = 4,
    .factor_fallback = 2.5,
    .renormalises_fallback = 1,
    .tensors = {MODEL_TENSORS_SHARED_EXPERTS,
                .bias = "model.layers.{i}.mlp.gate.e_score_correction_bias"},
};

const struct model_decoder describe_deepseek_v3 = {
    .model_type = "deepseek_v3",
    .class_name = "DeepseekV3ForCausalLM",
    DEEPSEEK_FORM,
    .keys = {DEEPSEEK_KEYS, .is_rope_interleaved = "/rope_interleave"},
    .defaults = {.eps = 1e-6,
                 .activation = "silu",
                 .rope = {.theta = 10000, .width = "qk_rope_head_dim", .positions = 4096}},
    .tensors = {DEEPSEEK_TENSORS},
    .ignored = {"/head_dim", "/qk_head_dim", "/num_nextn_predict_layers", "/aux_loss_alpha",
                "/seq_aux", "/ep_size"},
    .expected = {{"/moe_layer_freq", "1"},
                 {"/scoring_func", "\"sigmoid\""},
                 {"/topk_method", "\"noaux_tc\""}},
};
