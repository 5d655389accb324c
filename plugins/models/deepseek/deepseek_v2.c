// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// DeepSeek-V2 (arXiv 2405.04434): latent attention, shared experts beside routed ones, whose
// weights are never renormalised: Hugging Face does not read norm_topk_prob.
#include "deepseek.h"

static const struct model_decoder_experts experts = {
    MODEL_KEYS_GROUPED_EXPERTS,
    .method = "/topk_method",
    .count_fallback = 64,
    .width_fallback = 1407,
    .shared_fallback = 2,
    .factor_fallback = 1,
    .tensors = {MODEL_TENSORS_SHARED_EXPERTS},
};

const struct model_decoder describe_deepseek_v2 = {
    .model_type = "deepseek_v2",
    .class_name = "DeepseekV2ForCausalLM",
    DEEPSEEK_FORM,
    .keys = {DEEPSEEK_KEYS, .mlp_biases = "/mlp_bias"},
    .defaults = {.eps = 1e-6,
                 .activation = "silu",
                 .rope = {.theta = 10000, .width = "qk_rope_head_dim", .positions = 2048}},
    .tensors = {DEEPSEEK_TENSORS},
    .ignored = {"/head_dim", "/norm_topk_prob", "/aux_loss_alpha", "/seq_aux", "/ep_size"},
    .expected = {{"/moe_layer_freq", "1"}, {"/scoring_func", "\"softmax\""}},
};
