// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Latent attention (arXiv 2405.04434, section 2.1). Keys and values are kept head by head, as
// Hugging Face keeps them; nothing is absorbed into other weights.
#include <tapml/model/block.h>

static tapml_graph_value norm(struct model_context *context,
                              const struct model_block *block,
                              const char *name,
                              const char *tensor,
                              tapml_graph_value x,
                              int64_t width)
{
    return model_rms_norm(
        context, name, x,
        &(struct model_norm){.tensor = tensor, .width = width, .eps = block->decoder->latent->eps});
}

// Queries of all heads in a row, plain values and those to be turned.
static tapml_graph_value
query(struct model_context *context, const struct model_block *block, tapml_graph_value x)
{
    const struct model_sizes *sizes = block->sizes;
    const struct model_decoder_latent *latent = block->decoder->latent;
    const int64_t out = sizes->heads * sizes->head_width;
    const struct model_linear whole = {
        .tensor = block->decoder->tensors.q, .in = sizes->hidden, .out = out};
    const struct model_linear down = {.tensor = latent->tensors.q_down,
                                      .in = sizes->hidden,
                                      .out = sizes->query_latent,
                                      .has_bias = sizes->has_attention_biases};
    const struct model_linear up = {
        .tensor = latent->tensors.q_up, .in = sizes->query_latent, .out = out};

    if (sizes->query_latent == 0) {
        return model_linear(context, "q_proj", x, &whole);
    }
    x = model_linear(context, "q_down", x, &down);
    x = norm(context, block, "q_norm", latent->tensors.q_norm, x, sizes->query_latent);
    return model_linear(context, "q_up", x, &up);
}

static tapml_graph_value
turned_query(struct model_context *context, const struct model_block *block, tapml_graph_value x)
{
    const struct model_sizes *sizes = block->sizes;
    const int64_t plain = sizes->head_width - sizes->turned_width;
    const int64_t shape[] = {TAPML_SYM_TOKENS, sizes->heads, sizes->head_width};
    const tapml_graph_value q = model_reshape(context, query(context, block, x), shape, 3);
    const tapml_graph_value turned = model_block_turn(
        context, block, "q_rope", model_slice(context, q, 2, plain, sizes->head_width));

    return model_concat(context, "q_concat", model_slice(context, q, 2, 0, plain), turned);
}

// The key that all heads share, turned: [T, heads, width], as a view.
static tapml_graph_value
shared_key(struct model_context *context, const struct model_block *block, tapml_graph_value row)
{
    const struct model_sizes *sizes = block->sizes;
    const int64_t shape[] = {TAPML_SYM_TOKENS, 1, sizes->turned_width};
    const tapml_graph_value key =
        model_slice(context, row, 1, sizes->latent, sizes->latent + sizes->turned_width);

    return model_repeat(
        context, model_block_turn(context, block, "k_rope", model_reshape(context, key, shape, 3)),
        1, sizes->heads);
}

struct model_heads model_heads_latent(struct model_context *context,
                                      const struct model_block *block,
                                      tapml_graph_value x)
{
    const struct model_sizes *sizes = block->sizes;
    const struct model_decoder_latent *latent = block->decoder->latent;
    const int64_t plain = sizes->head_width - sizes->turned_width;
    const int64_t shape[] = {TAPML_SYM_TOKENS, sizes->heads, plain + sizes->value_width};
    const struct model_linear down = {.tensor = latent->tensors.kv_down,
                                      .in = sizes->hidden,
                                      .out = sizes->latent + sizes->turned_width,
                                      .has_bias = sizes->has_attention_biases};
    const struct model_linear up = {.tensor = latent->tensors.kv_up,
                                    .in = sizes->latent,
                                    .out = sizes->heads * (plain + sizes->value_width)};
    struct model_heads all = {.q = turned_query(context, block, x)};
    const tapml_graph_value row = model_linear(context, "kv_down", x, &down);
    tapml_graph_value kv = norm(context, block, "kv_norm", latent->tensors.kv_norm,
                                model_slice(context, row, 1, 0, sizes->latent), sizes->latent);

    kv = model_reshape(context, model_linear(context, "kv_up", kv, &up), shape, 3);
    all.k = model_concat(context, "k_concat", model_slice(context, kv, 2, 0, plain),
                         shared_key(context, block, row));
    all.v = model_slice(context, kv, 2, plain, plain + sizes->value_width);
    return all;
}

void model_attention_latent(struct model_context *context,
                            const struct model_block *block,
                            struct model_attention *attention)
{
    (void)context;
    attention->scale *= block->sizes->ropes[MODEL_ROPE_FULL].score_factor;
}
