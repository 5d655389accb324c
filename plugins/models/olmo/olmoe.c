// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// OLMoE (arXiv 2409.02060): experts in every layer; all heads of the queries are normalised as one
// row, and so are those of the keys; both and the values may be limited then.
#include <tapml/model/block.h>
#include <tapml/model/names.h>

static const struct model_decoder_experts experts = {
    .count = "/num_experts|/num_local_experts",
    .chosen = "/num_experts_per_tok",
    .width = "/intermediate_size",
    .renormalises = "/norm_topk_prob",
    .count_fallback = 64,
    .chosen_fallback = 8,
    .tensors = {MODEL_TENSORS_EXPERTS, .router = "model.layers.{i}.mlp.gate"},
};

const struct model_decoder describe_olmoe = {
    .model_type = "olmoe",
    .class_name = "OlmoeForCausalLM",
    .head_steps = {model_heads_norm_rows, model_heads_clip, model_heads_turn},
    .keys = {MODEL_KEYS_USUAL},
    .defaults =
        {
            .eps = 1e-5,
            .activation = "silu",
            .rope = {.theta = 10000, .positions = 4096},
        },
    .tensors =
        {
            MODEL_TENSORS_STREAM,
            MODEL_TENSORS_ATTENTION,
            MODEL_TENSORS_HEAD_NORMS,
            .mlp_norm = "model.layers.{i}.post_attention_layernorm",
        },
    .experts = &experts,
};
