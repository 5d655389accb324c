// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Granite 3 with experts: the factors of Granite; experts in every layer by the softmax of those
// that are chosen, in one tensor each for gate and up, and for down.
#include "granite.h"

#include <tapml/model/names.h>

static tapml_graph_value products(struct model_context *context,
                                  const struct model_block *block,
                                  const struct model_experts *own,
                                  tapml_graph_value x)
{
    return model_experts_fused(context, block, own, 0, x);
}

static const struct model_decoder_experts experts = {
    .count = "/num_local_experts",
    .chosen = "/num_experts_per_tok",
    .width = "/intermediate_size",
    .count_fallback = 8,
    .chosen_fallback = 2,
    .routing = MODEL_ROUTING_TOPK,
    .products = products,
    .tensors = {.router = "model.layers.{i}.block_sparse_moe.router.layer",
                .gate = "model.layers.{i}.block_sparse_moe.input_linear.weight",
                .down = "model.layers.{i}.block_sparse_moe.output_linear.weight"},
};

const struct model_decoder describe_granitemoe = {
    .model_type = "granitemoe",
    .class_name = "GraniteMoeForCausalLM",
    .embed_steps = {granite_scale_embedding},
    .attention = granite_scale_scores,
    .branch = granite_scale_branch,
    .logit_steps = {granite_scale_logits},
    .keys = {MODEL_KEYS_USUAL},
    .defaults = {MODEL_DEFAULTS_LLAMA},
    .tensors =
        {
            MODEL_TENSORS_STREAM,
            MODEL_TENSORS_ATTENTION,
            .mlp_norm = "model.layers.{i}.post_attention_layernorm",
        },
    .experts = &experts,
    .ignored = {"/activation_function", "/router_jitter_noise"},
};
