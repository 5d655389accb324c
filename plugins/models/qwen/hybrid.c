// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "hybrid.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

int hybrid_is_full(struct model_context *context, int64_t layer)
{
    static const char *const kinds[] = {"full_attention", "linear_attention", NULL};
    const int64_t period =
        model_config_count_of(context, "/full_attention_interval", 4, MODEL_LAYERS_MAX);
    struct model_name pointer;

    if (context->config_table->length(context->config, "/layer_types") < 0) {
        return period > 0 && (layer + 1) % period == 0;
    }
    snprintf(pointer.text, sizeof(pointer.text), "/layer_types/%lld", (long long)layer);
    return strcmp(model_config_choice(context, pointer.text, "", kinds), kinds[0]) == 0;
}

static tapml_graph_value project(struct model_context *context,
                                 const struct model_block *block,
                                 const char *name,
                                 const char *tensor,
                                 const int64_t heads_width[2],
                                 tapml_graph_value x)
{
    const struct model_linear linear = {.tensor = tensor,
                                        .in = block->sizes->hidden,
                                        .out = heads_width[0] * heads_width[1],
                                        .has_bias = block->sizes->has_attention_biases};

    return model_in_heads(context, model_linear(context, name, x, &linear), heads_width[0],
                          heads_width[1]);
}

// Attention, whose heads are gated. Each head of the queries' tensor has its query, then its gate.
static tapml_graph_value
attend(struct model_context *context, const struct model_block *block, tapml_graph_value x)
{
    const struct model_decoder_tensors *tensors = &block->decoder->tensors;
    const struct model_sizes *sizes = block->sizes;
    const int64_t width = sizes->head_width, both_shape[] = {sizes->heads, 2 * width};
    const int64_t kv_shape[] = {sizes->kv_heads, width};
    const struct model_attention options = {.scale = 1 / sqrt((double)width), .is_causal = 1};
    const struct model_linear out = {.tensor = tensors->o,
                                     .in = sizes->heads * width,
                                     .out = sizes->hidden,
                                     .has_bias = sizes->has_attention_biases};
    const struct model_name k_name = model_name(context, "layers.{i}/attn/k", context->layer, "");
    const struct model_name v_name = model_name(context, "layers.{i}/attn/v", context->layer, "");
    const tapml_graph_value k_state = model_state(context, k_name.text, kv_shape[0], width);
    const tapml_graph_value v_state = model_state(context, v_name.text, kv_shape[0], width);
    const tapml_graph_value both = project(context, block, "q_proj", tensors->q, both_shape, x);
    struct model_heads heads = {
        .q = model_slice(context, both, 2, 0, width),
        .k = project(context, block, "k_proj", tensors->k, kv_shape, x),
        .v = project(context, block, "v_proj", tensors->v, kv_shape, x),
    };
    const tapml_graph_value gate =
        model_sigmoid(context, "gate", model_slice(context, both, 2, width, 2 * width));

    model_heads_norm(context, block, &heads);
    model_heads_turn(context, block, &heads);
    model_state_append(context, "k_append", k_state, heads.k);
    model_state_append(context, "v_append", v_state, heads.v);

    const tapml_graph_value y = model_multiply(
        context, "gated",
        model_attention(context, "attention", heads.q, k_state, v_state, &options), gate);

    return model_linear(context, "o_proj", model_in_rows(context, y, out.in), &out);
}

tapml_graph_value hybrid_mix(struct model_context *context,
                             const struct model_block *block,
                             delta_parts_fn *delta_parts,
                             tapml_graph_value x)
{
    struct delta delta;

    delta_read(context, block, &delta); // The keys are known, whatever the layer is.
    if (context->status != TAPML_OK) {
        return 0; // Sizes that are refused may be 0.
    }
    return hybrid_is_full(context, context->layer) ? attend(context, block, x)
                                                   : delta_build(context, &delta, delta_parts, x);
}
