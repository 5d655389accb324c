// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Granite (arXiv 2405.04324): Llama whose embedding, scores, halves of layers and logits have
// factors.
#include "granite.h"

#include <tapml/model/names.h>

tapml_graph_value granite_scale_embedding(struct model_context *context,
                                          const struct model_block *block,
                                          tapml_graph_value x)
{
    (void)block;
    return model_scale(context, "embed_scale", x,
                       model_config_factor(context, "/embedding_multiplier", 1));
}

void granite_scale_scores(struct model_context *context,
                          const struct model_block *block,
                          struct model_attention *attention)
{
    (void)block;
    attention->scale = model_config_factor(context, "/attention_multiplier", 1);
}

tapml_graph_value granite_scale_branch(struct model_context *context,
                                       const struct model_block *block,
                                       tapml_graph_value y)
{
    (void)block;
    return model_scale(context, "scale", y,
                       model_config_factor(context, "/residual_multiplier", 1));
}

tapml_graph_value granite_scale_logits(struct model_context *context,
                                       const struct model_block *block,
                                       tapml_graph_value logits)
{
    (void)block;
    return model_scale(context, "logit_scale", logits,
                       1 / model_config_factor(context, "/logits_scaling", 1));
}

const struct model_decoder describe_granite = {
    .model_type = "granite",
    .class_name = "GraniteForCausalLM",
    .embed_steps = {granite_scale_embedding},
    .attention = granite_scale_scores,
    .branch = granite_scale_branch,
    .logit_steps = {granite_scale_logits},
    .keys = {MODEL_KEYS_LLAMA},
    .defaults = {MODEL_DEFAULTS_LLAMA},
    .tensors = {MODEL_TENSORS_LLAMA},
};
