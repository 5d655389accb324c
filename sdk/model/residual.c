// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A layer as two halves around the residual stream.
#include <tapml/model/block.h>

// The residual stream within a layer.
struct stream {
    tapml_graph_value h;      // Behind the layer before; behind the mixer, once that is added.
    tapml_graph_value before; // What the mixer starts from: h behind the layer before,
    tapml_graph_value normed; // and its norm.
};

tapml_graph_value model_block_norm(struct model_context *context,
                                   const struct model_block *block,
                                   const char *name,
                                   const char *tensor,
                                   tapml_graph_value x)
{
    const struct model_decoder *decoder = block->decoder;
    const struct model_norm norm = {.kind = decoder->norm,
                                    .tensor = block->sizes->has_bare_norms ? NULL : tensor,
                                    .width = block->sizes->hidden,
                                    .eps = block->sizes->eps,
                                    .offset = decoder->norm_offset,
                                    .has_bias = decoder->has_norm_biases};

    return tensor != NULL ? model_norm(context, name, x, &norm) : x;
}

// What a half gives, added to h or to the norm that it took.
static tapml_graph_value add_half(struct model_context *context,
                                  const struct model_block *block,
                                  const char *norm_after,
                                  tapml_graph_value h,
                                  tapml_graph_value normed,
                                  tapml_graph_value y)
{
    y = model_block_norm(context, block, "norm_after", norm_after, y);
    if (block->decoder->branch != NULL) {
        y = block->decoder->branch(context, block, y);
    }
    return model_add(context, "add", block->sizes->adds_normed ? normed : h, y);
}

static void
mixer_half(struct model_context *context, const struct model_block *block, struct stream *stream)
{
    const struct model_decoder *decoder = block->decoder;
    model_value_fn *mixer = decoder->mixer != NULL ? decoder->mixer : model_mixer_attention;

    model_scope_begin(context, "attn");
    stream->before = stream->h;
    stream->normed =
        model_block_norm(context, block, "norm", decoder->tensors.attention_norm, stream->h);
    stream->h = add_half(context, block, decoder->tensors.attention_norm_after, stream->h,
                         stream->normed, mixer(context, block, stream->normed));
    model_scope_end(context);
}

static void
mlp_half(struct model_context *context, const struct model_block *block, struct stream *stream)
{
    const struct model_decoder *decoder = block->decoder;
    const int is_parallel = block->sizes->is_parallel;
    model_value_fn *mlp = decoder->mlp != NULL ? decoder->mlp : model_mlp_gated;

    if (model_experts_are_in(context, block)) {
        mlp = model_mlp_experts;
    }
    model_scope_begin(context, "mlp");
    const tapml_graph_value x =
        is_parallel && decoder->tensors.mlp_norm == NULL
            ? stream->normed
            : model_block_norm(context, block, "norm", decoder->tensors.mlp_norm,
                               is_parallel ? stream->before : stream->h);

    stream->h = add_half(context, block, decoder->tensors.mlp_norm_after, stream->h, x,
                         mlp(context, block, x));
    model_scope_end(context);
}

tapml_graph_value model_layer_residual(struct model_context *context,
                                       const struct model_block *block,
                                       tapml_graph_value h)
{
    struct stream stream = {.h = h};

    mixer_half(context, block, &stream);
    mlp_half(context, block, &stream);
    return stream.h;
}
