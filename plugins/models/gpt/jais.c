// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Jais (arXiv 2308.16149): GPT-2 with slopes in place of positions, a gated MLP, and factors on the
// embedding and the logits; scores may be divided by the width of a head, not its root.
#include "gpt.h"

static tapml_graph_value
scale_embedding(struct model_context *context, const struct model_block *block, tapml_graph_value x)
{
    static const char keys[] = "/embeddings_scale|/mup_embeddings_scale";

    const double scale = model_config_number_of(context, keys, 1);

    (void)block;
    return scale > 0 ? model_scale(context, "embed_scale", x, scale) : x;
}

static tapml_graph_value scale_logits(struct model_context *context,
                                      const struct model_block *block,
                                      tapml_graph_value logits)
{
    const double width = model_config_number_of(context, "/width_scale|/mup_width_scale", 1);
    const double alpha = model_config_number_of(context, "/mup_output_alpha", 1);

    (void)block;
    logits = width > 0 ? model_scale(context, "logit_scale", logits, width) : logits;
    return alpha > 0 ? model_scale(context, "logit_alpha", logits, alpha) : logits;
}

static void attention(struct model_context *context,
                      const struct model_block *block,
                      struct model_attention *attention)
{
    static const char keys[] = "/scale_qk_dot_by_d|/mup_scale_qk_dot_by_d";

    if (model_config_boolean_of(context, keys, 0)) {
        attention->scale = 1 / (double)block->sizes->head_width;
    }
    gpt_scale_by_layer(context, block, attention);
}

// The checkpoint may have slopes of its own, [heads, 1, 1].
static tapml_graph_value slopes(struct model_context *context, int64_t heads)
{
    const char *name =
        context->renaming.from != NULL ? "relative_pe.slopes" : "transformer.relative_pe.slopes";
    const tapml_host_weights *table = context->weights_table;
    const tapml_tensor *tensor =
        context->status == TAPML_OK ? table->find(context->weights, name, NULL) : NULL;
    float slopes[MODEL_HEADS_MAX];

    if (tensor == NULL) {
        return model_slopes_alibi(context, heads);
    }
    if (tensor->rank < 1 || tensor->shape[0] != heads) {
        model_fail(context, TAPML_INVALID,
                   "tensor '%s' has %lld rows, expected one for each of the %lld heads", name,
                   tensor->rank < 1 ? 0LL : (long long)tensor->shape[0], (long long)heads);
    }
    for (int64_t i = 0; i < heads && context->status == TAPML_OK; i++) {
        double slope = 0;

        model_note(context,
                   table->read(context->weights, context->call, name, (uint64_t)i, 1, &slope));
        slopes[i] = (float)slope;
    }
    return model_constant(context, slopes, heads);
}

const struct model_decoder describe_jais = {
    .model_type = "jais",
    .class_name = "JAISLMHeadModel",
    .norm = MODEL_NORM_LAYER,
    .has_norm_biases = 1,
    .embed_steps = {scale_embedding},
    .layout = model_layout_blocks,
    .attention = attention,
    .slopes = slopes,
    .ropes = MODEL_ROPES_NONE,
    .is_transposed = 1,
    .logit_steps = {scale_logits},
    .keys = {GPT_KEYS},
    .defaults =
        {
            .sizes = {.hidden = 768, .layers = 12, .heads = 12, .vocabulary = 50257},
            .eps = 1e-5,
            .activation = "silu", // Of "swiglu".
            .mlp_factor = 4,
            .is_tied = 1,
            .has_attention_biases = 1,
            .has_mlp_biases = 1,
        },
    .tensors =
        {
            GPT_TENSORS_STREAM,
            GPT_TENSORS_ATTENTION,
            GPT_TENSORS_MLP,
            .gate = "transformer.h.{i}.mlp.c_fc2",
        },
    .ignored = {"/n_positions", "/n_ctx"},
    .expected = {{"/activation_function", "\"swiglu\""}, {"/position_embedding_type", "\"alibi\""}},
};
