// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Gemma (arXiv 2403.08295): Llama with norms that multiply by 1 + weight, an embedding multiplied
// by the root of its width, and heads of a width of their own; and what Gemma 2 and 3 share.
#include "gemma.h"

#include <math.h>
#include <string.h>

void gemma_scale(struct model_context *context,
                 const struct model_block *block,
                 struct model_attention *attention)
{
    (void)block;
    attention->scale = 1 / sqrt(model_config_factor(context, "/query_pre_attn_scalar", 256));
}

tapml_graph_value
gemma_limit(struct model_context *context, tapml_graph_value logits, double fallback)
{
    const double limit = model_config_number_of(context, "/final_logit_softcapping", fallback);

    return limit > 0 ? model_softcap(context, "logit_softcap", logits, limit) : logits;
}

// Early files name the exact activation; the models were trained with the other.
static void choose_activation(struct model_context *context, struct model_sizes *sizes)
{
    (void)context;
    if (strcmp(sizes->activation, "gelu") == 0) {
        sizes->activation = "gelu_pytorch_tanh";
    }
}

const struct model_decoder describe_gemma = {
    .model_type = "gemma",
    .class_name = "GemmaForCausalLM",
    .norm_offset = 1,
    .resize = choose_activation,
    .embed_steps = {model_embed_root},
    .keys =
        {
            MODEL_KEYS_SIZES,
            .head_width = "/head_dim",
            .eps = "/rms_norm_eps",
            .activation = "/hidden_act|/hidden_activation",
            .attention_biases = "/attention_bias",
        },
    .defaults =
        {
            .sizes = {.hidden = 3072,
                      .layers = 28,
                      .heads = 16,
                      .kv_heads = 16,
                      .head_width = 256,
                      .mlp_width = 24576,
                      .vocabulary = 256000},
            .eps = 1e-6,
            .activation = "gelu_pytorch_tanh",
            .is_tied = 1,
            .rope = {.theta = 10000, .positions = 8192},
        },
    .tensors = {MODEL_TENSORS_LLAMA},
    .expected = {{"/use_bidirectional_attention", "false"}},
};
