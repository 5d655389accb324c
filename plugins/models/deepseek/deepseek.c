// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// DeepSeekMoE (arXiv 2401.06066): Llama with many narrow experts beside shared ones, in every
// `moe_layer_freq`-th layer from a first one on.
#include <tapml/model/block.h>
#include <tapml/model/names.h>

// Without a number of experts all layers are dense.
static int has_experts(struct model_context *context, const struct model_block *block)
{
    const struct model_decoder_experts *keys = block->decoder->experts;
    const int64_t period = model_config_count_of(context, "/moe_layer_freq", 1, MODEL_LAYERS_MAX);

    return context->status == TAPML_OK && context->layer % period == 0 &&
           context->config_table->has(context->config,
                                      model_config_key(context, keys->count).text) &&
           model_experts_layer(context, block);
}

static const struct model_decoder_experts experts = {
    MODEL_KEYS_GROUPED_EXPERTS, .renormalises = "/norm_topk_prob",
    .width_fallback = 1407,     .factor_fallback = 1,
    .layer = has_experts,       .tensors = {MODEL_TENSORS_SHARED_EXPERTS},
};

const struct model_decoder describe_deepseek = {
    .model_type = "deepseek",
    .class_name = "DeepseekForCausalLM",
    .keys = {MODEL_KEYS_USUAL},
    .defaults = {MODEL_DEFAULTS_LLAMA},
    .tensors = {MODEL_TENSORS_LLAMA},
    .experts = &experts,
    .ignored = {"/aux_loss_alpha", "/seq_aux", "/ep_size",
                // Where no layer has experts.
                "/num_experts_per_tok", "/moe_intermediate_size", "/first_k_dense_replace",
                "/n_shared_experts", "/routed_scaling_factor", "/norm_topk_prob", "/n_group",
                "/topk_group"},
    .expected = {{"/scoring_func", "\"softmax\""}, {"/topk_method", "\"greedy\""}},
};
