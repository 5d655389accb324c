// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// MiniCPM (arXiv 2404.06395): Llama whose embedding, halves of layers and logits have factors.
#include <tapml/model/block.h>
#include <tapml/model/names.h>

#include <math.h>

static tapml_graph_value
scale_embedding(struct model_context *context, const struct model_block *block, tapml_graph_value x)
{
    (void)block;
    return model_scale(context, "embed_scale", x, model_config_factor(context, "/scale_emb", 1));
}

static tapml_graph_value
scale_branch(struct model_context *context, const struct model_block *block, tapml_graph_value y)
{
    const double depth = model_config_factor(context, "/scale_depth", 1);

    return model_scale(context, "scale", y, depth / sqrt((double)block->sizes->layers));
}

static tapml_graph_value scale_logits(struct model_context *context,
                                      const struct model_block *block,
                                      tapml_graph_value logits)
{
    const double width = model_config_factor(context, "/dim_model_base", 1);

    return model_scale(context, "logit_scale", logits, width / (double)block->sizes->hidden);
}

const struct model_decoder describe_minicpm = {
    .model_type = "minicpm",
    .class_name = "MiniCPMForCausalLM",
    .embed_steps = {scale_embedding},
    .branch = scale_branch,
    .logit_steps = {scale_logits},
    .keys =
        {
            MODEL_KEYS_SIZES,
            .head_width = "/head_dim",
            .eps = "/rms_norm_eps",
            .activation = "/hidden_act",
            .attention_biases = "/attention_bias",
        },
    .defaults = {MODEL_DEFAULTS_LLAMA},
    .tensors = {MODEL_TENSORS_LLAMA},
    .ignored = {"/mup_denominator"}, // Of the draft model of MiniCPM4.
};
