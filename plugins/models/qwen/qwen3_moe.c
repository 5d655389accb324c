// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Qwen3 with experts (arXiv 2505.09388): Qwen3 whose MLPs are mixtures of experts, but in the
// layers that the config names.

#include "qwen.h"

static const struct model_decoder_experts experts = {
    .count = "/num_local_experts|/num_experts",
    .chosen = "/num_experts_per_tok",
    .width = "/moe_intermediate_size",
    .period = "/decoder_sparse_step",
    .dense = "/mlp_only_layers",
    .renormalises = "/norm_topk_prob",
    .count_fallback = 128,
    .chosen_fallback = 8,
    .width_fallback = 768,
    .tensors = {MODEL_TENSORS_EXPERTS, .router = "model.layers.{i}.mlp.gate"},
};

const struct model_decoder describe_qwen3_moe = {
    .model_type = "qwen3_moe",
    .class_name = "Qwen3MoeForCausalLM",
    .keys = {MODEL_KEYS_USUAL},
    .defaults = {QWEN_DEFAULTS},
    .windows = {.window = "/sliding_window",
                .is_used = "/use_sliding_window",
                .window_fallback = 4096},
    .tensors = {MODEL_TENSORS_LLAMA, MODEL_TENSORS_HEAD_NORMS},
    .experts = &experts,
    .ignored = {"/max_window_layers"},
    .expected = {{"/shared_expert_intermediate_size", "0"}, {"/use_qk_norm", "true"}},
};
