// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Qwen2 with experts (arXiv 2407.10671): biases of queries, keys and values, experts beside one
// that every token takes by the sigmoid of a gate; some layers are dense, late layers may slide.

#include "qwen.h"

// sigmoid(gate x) * shared(x).
static tapml_graph_value
gated_expert(struct model_context *context, const struct model_block *block, tapml_graph_value x)
{
    const struct model_decoder_experts *keys = block->decoder->experts;
    const struct model_linear gate = {
        .tensor = "model.layers.{i}.mlp.shared_expert_gate", .in = block->sizes->hidden, .out = 1};
    const struct model_mlp mlp = {
        keys->tensors.shared_gate, keys->tensors.shared_up, keys->tensors.shared_down,
        model_config_count_of(context, "/shared_expert_intermediate_size", 5632, MODEL_WIDTH_MAX)};
    const tapml_graph_value y = model_mlp_gated_of(context, block, &mlp, x);
    const tapml_graph_value share =
        model_sigmoid(context, "share", model_linear(context, "gate", x, &gate));

    return model_multiply(context, "gated", y,
                          model_repeat(context, share, 1, block->sizes->hidden));
}

static const struct model_decoder_experts experts = {
    .count = "/num_experts|/num_local_experts",
    .chosen = "/num_experts_per_tok",
    .width = "/moe_intermediate_size",
    .period = "/decoder_sparse_step",
    .dense = "/mlp_only_layers",
    .renormalises = "/norm_topk_prob",
    .count_fallback = 60,
    .chosen_fallback = 4,
    .width_fallback = 1408,
    .besides = gated_expert,
    .tensors = {MODEL_TENSORS_EXPERTS, .router = "model.layers.{i}.mlp.gate",
                .shared_gate = "model.layers.{i}.mlp.shared_expert.gate_proj",
                .shared_up = "model.layers.{i}.mlp.shared_expert.up_proj",
                .shared_down = "model.layers.{i}.mlp.shared_expert.down_proj"},
};

const struct model_decoder describe_qwen2_moe = {
    .model_type = "qwen2_moe",
    .class_name = "Qwen2MoeForCausalLM",
    .keys =
        {
            MODEL_KEYS_SIZES,
            .head_width = "/head_dim",
            .eps = "/rms_norm_eps",
            .activation = "/hidden_act",
            .attention_biases = "/qkv_bias",
        },
    .defaults = {QWEN2_DEFAULTS},
    .windows = {QWEN_WINDOWS},
    .tensors = {MODEL_TENSORS_LLAMA},
    .experts = &experts,
    .ignored = {"/expert_interval",
                "/shared_expert_intermediate_size"}, // Where no layer has experts.
};
