// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Softmax attention as the mixer of a layer.
#include <tapml/model/block.h>

#include <math.h>

// What the softmax sees.
static struct model_heads
read_heads(struct model_context *context, const struct model_block *block, tapml_graph_value x)
{
    static model_heads_step_fn *const usual[] = {model_heads_norm, model_heads_turn, NULL};
    const struct model_decoder *decoder = block->decoder;
    model_heads_fn *layout = decoder->layout != NULL ? decoder->layout : model_layout_separate;
    model_heads_step_fn *const *steps =
        decoder->head_steps[0] != NULL ? decoder->head_steps : usual;

    if (decoder->heads != NULL) {
        return decoder->heads(context, block, x);
    }
    struct model_heads heads = layout(context, block, x);

    for (size_t i = 0; i < MODEL_DECODER_STEPS_MAX && steps[i] != NULL; i++) {
        steps[i](context, block, &heads);
    }
    return heads;
}

static struct model_attention read_options(struct model_context *context,
                                           const struct model_block *block)
{
    struct model_attention attention = {
        .slopes = block->slopes,
        .scale = 1 / sqrt((double)block->sizes->head_width),
        .is_causal = 1,
        .window = block->layer.window,
    };

    if (block->decoder->attention != NULL) {
        block->decoder->attention(context, block, &attention);
    }
    return attention;
}

static tapml_graph_value
attend(struct model_context *context, const struct model_block *block, struct model_heads heads)
{
    const struct model_sizes *sizes = block->sizes;
    const struct model_name k_name = model_name(context, "layers.{i}/attn/k", context->layer, "");
    const struct model_name v_name = model_name(context, "layers.{i}/attn/v", context->layer, "");
    const tapml_graph_value k_state =
        model_state(context, k_name.text, sizes->kv_heads, sizes->head_width);
    const tapml_graph_value v_state =
        model_state(context, v_name.text, sizes->kv_heads, sizes->value_width);
    const struct model_attention options = read_options(context, block);

    model_state_append(context, "k_append", k_state, heads.k);
    model_state_append(context, "v_append", v_state, heads.v);
    return model_attention(context, "attention", heads.q, k_state, v_state, &options);
}

tapml_graph_value model_mixer_attention(struct model_context *context,
                                        const struct model_block *block,
                                        tapml_graph_value x)
{
    const struct model_sizes *sizes = block->sizes;
    const int64_t rows[] = {TAPML_SYM_TOKENS, sizes->heads * sizes->value_width};
    const struct model_linear out = {.tensor = block->decoder->tensors.o,
                                     .in = rows[1],
                                     .out = sizes->hidden,
                                     .has_bias = sizes->has_output_bias,
                                     .is_transposed = block->decoder->is_transposed};
    const tapml_graph_value y = attend(context, block, read_heads(context, block, x));

    return model_linear(context, "o_proj", model_reshape(context, y, rows, 2), &out);
}

tapml_graph_value model_slopes_alibi(struct model_context *context, int64_t heads)
{
    float slopes[MODEL_HEADS_MAX];
    const double power = exp2(floor(log2((double)heads)));

    for (int64_t i = 0; i < heads; i++) {
        const double rest = (double)i - power;

        slopes[i] = (float)(rest < 0 ? exp2(-8 * (double)(i + 1) / power)
                                     : exp2(-4 * (2 * rest + 1) / power));
    }
    return model_constant(context, slopes, heads);
}
