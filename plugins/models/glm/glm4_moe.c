// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// GLM-4.5 (arXiv 2508.06471): half of each head is turned, experts as in DeepSeek-V3; queries and
// keys may be normalised.

#include <tapml/model/block.h>
#include <tapml/model/names.h>

static void norm_heads(struct model_context *context,
                       const struct model_block *block,
                       struct model_heads *heads)
{
    if (model_config_boolean_of(context, "/use_qk_norm", 0)) {
        model_heads_norm(context, block, heads);
    }
}

static const struct model_decoder_experts experts = {
    MODEL_KEYS_GROUPED_EXPERTS,
    .renormalises = "/norm_topk_prob",
    .routing = MODEL_ROUTING_SIGMOID,
    .count_fallback = 128,
    .chosen_fallback = 8,
    .width_fallback = 1408,
    .first_fallback = 1,
    .shared_fallback = 1,
    .groups_fallback = 1,
    .kept_groups_fallback = 1,
    .factor_fallback = 1,
    .renormalises_fallback = 1,
    .tensors = {MODEL_TENSORS_SHARED_EXPERTS,
                .bias = "model.layers.{i}.mlp.gate.e_score_correction_bias"},
};

const struct model_decoder describe_glm4_moe = {
    .model_type = "glm4_moe",
    .class_name = "Glm4MoeForCausalLM",
    .head_steps = {norm_heads, model_heads_turn},
    .keys = {MODEL_KEYS_USUAL},
    .defaults =
        {
            .eps = 1e-5,
            .activation = "silu",
            .output_bias = MODEL_OUTPUT_BIAS_NEVER,
            .rope = {.theta = 10000, .positions = 131072, .share = 0.5},
        },
    .tensors = {MODEL_TENSORS_LLAMA, MODEL_TENSORS_HEAD_NORMS},
    .experts = &experts,
    .ignored = {"/num_nextn_predict_layers"},
    .expected = {{"/moe_layer_freq", "1"},
                 {"/scoring_func", "\"sigmoid\""},
                 {"/topk_method", "\"noaux_tc\""}},
};
