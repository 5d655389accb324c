// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "block.h"

static tapml_graph_value norm_of(struct model_context *context,
                                 const struct sizes *sizes,
                                 const char *name,
                                 const char *tensor,
                                 tapml_graph_value x,
                                 int64_t width)
{
    const struct model_norm norm = {.kind = sizes->decoder->norm,
                                    .tensor = tensor,
                                    .width = width,
                                    .eps = sizes->eps,
                                    .offset = sizes->decoder->norm_offset,
                                    .has_bias = sizes->decoder->has_norm_biases};

    return tensor != NULL ? model_norm(context, name, x, &norm) : x;
}

tapml_graph_value block_norm(struct model_context *context,
                             const struct sizes *sizes,
                             const char *name,
                             const char *tensor,
                             tapml_graph_value x)
{
    return norm_of(context, sizes, name, tensor, x, sizes->hidden);
}

static tapml_graph_value heads_of(struct model_context *context,
                                  const struct sizes *sizes,
                                  tapml_graph_value x,
                                  int64_t heads)
{
    const int64_t shape[] = {TAPML_SYM_TOKENS, heads, sizes->head_width};

    return model_reshape(context, x, shape, 3);
}

static tapml_graph_value project(struct model_context *context,
                                 const struct sizes *sizes,
                                 const char *name,
                                 const char *tensor,
                                 tapml_graph_value x,
                                 int64_t heads)
{
    const struct model_linear linear = {.tensor = tensor,
                                        .in = sizes->hidden,
                                        .out = heads * sizes->head_width,
                                        .has_bias = sizes->has_attention_biases,
                                        .is_transposed = sizes->decoder->is_transposed};

    return model_linear(context, name, x, &linear);
}

static struct block_heads
separate(struct model_context *context, const struct sizes *sizes, tapml_graph_value x)
{
    const struct model_decoder_tensors *tensors = &sizes->decoder->tensors;
    const int64_t heads = sizes->heads, kv_heads = sizes->kv_heads;
    struct block_heads all;

    all.q =
        heads_of(context, sizes, project(context, sizes, "q_proj", tensors->q, x, heads), heads);
    all.k = heads_of(context, sizes, project(context, sizes, "k_proj", tensors->k, x, kv_heads),
                     kv_heads);
    all.v = heads_of(context, sizes, project(context, sizes, "v_proj", tensors->v, x, kv_heads),
                     kv_heads);
    return all;
}

// The heads `begin` .. `begin + count` of a fused tensor.
static tapml_graph_value block_of(struct model_context *context,
                                  const struct sizes *sizes,
                                  tapml_graph_value fused,
                                  int64_t begin,
                                  int64_t count)
{
    const int64_t width = sizes->head_width;
    const tapml_graph_value part =
        model_slice(context, fused, 1, begin * width, (begin + count) * width);

    return heads_of(context, sizes, part, count);
}

static struct block_heads
blocks(struct model_context *context, const struct sizes *sizes, tapml_graph_value x)
{
    const int64_t heads = sizes->heads, kv_heads = sizes->kv_heads;
    const tapml_graph_value fused =
        project(context, sizes, "qkv_proj", sizes->decoder->tensors.qkv, x, heads + 2 * kv_heads);

    return (struct block_heads){block_of(context, sizes, fused, 0, heads),
                                block_of(context, sizes, fused, heads, kv_heads),
                                block_of(context, sizes, fused, heads + kv_heads, kv_heads)};
}

static struct block_heads
interleaved(struct model_context *context, const struct sizes *sizes, tapml_graph_value x)
{
    const int64_t heads = sizes->heads;
    const int64_t shape[] = {TAPML_SYM_TOKENS, heads, 3, sizes->head_width};
    const tapml_graph_value fused = model_reshape(
        context, project(context, sizes, "qkv_proj", sizes->decoder->tensors.qkv, x, 3 * heads),
        shape, 4);
    tapml_graph_value part[3];

    if (sizes->kv_heads != heads) {
        model_fail(context, TAPML_UNIMPLEMENTED,
                   "%lld key heads for %lld query heads do not fit into a tensor of whole heads",
                   (long long)sizes->kv_heads, (long long)heads);
    }
    for (int64_t i = 0; i < 3; i++) {
        part[i] = heads_of(context, sizes, model_slice(context, fused, 2, i, i + 1), heads);
    }
    return (struct block_heads){part[0], part[1], part[2]};
}

// What the softmax sees, but for its norms and turns.
static struct block_heads
read_heads(struct model_context *context, const struct sizes *sizes, tapml_graph_value x)
{
    const struct model_decoder_tensors *tensors = &sizes->decoder->tensors;
    struct block_heads all = {0};

    switch (sizes->decoder->qkv) {
    case MODEL_QKV_SEPARATE:
        all = separate(context, sizes, x);
        break;
    case MODEL_QKV_BLOCKS:
        all = blocks(context, sizes, x);
        break;
    case MODEL_QKV_HEADS:
        all = interleaved(context, sizes, x);
        break;
    }
    all.q = norm_of(context, sizes, "q_norm", tensors->q_norm, all.q, sizes->head_width);
    all.k = norm_of(context, sizes, "k_norm", tensors->k_norm, all.k, sizes->head_width);
    return all;
}

tapml_graph_value block_turn(struct model_context *context,
                             const struct block *block,
                             const char *name,
                             tapml_graph_value x)
{
    const enum sizes_rope rope = sizes_layer(context, block->sizes, context->layer).rope;

    return rope != SIZES_ROPE_NONE
               ? model_rope(context, name, x, block->ropes[rope].cosines, block->ropes[rope].sines,
                            block->sizes->is_rope_interleaved)
               : x;
}

// What the softmax sees.
static struct block_heads
turned_heads(struct model_context *context, const struct block *block, tapml_graph_value x)
{
    struct block_heads all;

    if (block->sizes->latent > 0) {
        return block_latent(context, block, x);
    }
    all = read_heads(context, block->sizes, x);
    all.q = block_turn(context, block, "q_rope", all.q);
    all.k = block_turn(context, block, "k_rope", all.k);
    return all;
}

static tapml_graph_value attend(struct model_context *context,
                                const struct block *block,
                                const struct sizes_layer *layer,
                                struct block_heads all)
{
    const struct sizes *sizes = block->sizes;
    const struct model_decoder_tensors *tensors = &sizes->decoder->tensors;
    const struct model_name k_name = model_name(context, "layers.{i}/attn/k", context->layer, "");
    const struct model_name v_name = model_name(context, "layers.{i}/attn/v", context->layer, "");
    const tapml_graph_value k_state =
        model_state(context, k_name.text, sizes->kv_heads, sizes->head_width);
    const tapml_graph_value v_state =
        model_state(context, v_name.text, sizes->kv_heads, sizes->value_width);
    const struct model_attention options = {
        .slopes = block->slopes,
        .sinks =
            tensors->sinks != NULL ? model_weight(context, tensors->sinks, &sizes->heads, 1) : 0,
        .scale = layer->scale,
        .is_causal = 1,
        .window = layer->window,
        .softcap = sizes->attention_softcap,
    };

    model_state_append(context, "k_append", k_state, all.k);
    model_state_append(context, "v_append", v_state, all.v);
    return model_attention(context, "attention", all.q, k_state, v_state, &options);
}

void block_attention(struct model_context *context,
                     const struct block *block,
                     struct block_stream *stream)
{
    const struct sizes *sizes = block->sizes;
    const struct model_decoder_tensors *tensors = &sizes->decoder->tensors;
    const struct sizes_layer layer = sizes_layer(context, sizes, context->layer);
    const int64_t rows[] = {TAPML_SYM_TOKENS, sizes->heads * sizes->value_width};
    const struct model_linear out = {.tensor = tensors->o,
                                     .in = rows[1],
                                     .out = sizes->hidden,
                                     .has_bias = sizes->has_attention_biases,
                                     .is_transposed = sizes->decoder->is_transposed};

    model_scope_begin(context, "attn");
    stream->before = stream->h;
    stream->normed = block_norm(context, sizes, "norm", tensors->attention_norm, stream->h);

    tapml_graph_value y =
        attend(context, block, &layer, turned_heads(context, block, stream->normed));

    y = model_linear(context, "o_proj", model_reshape(context, y, rows, 2), &out);
    y = block_norm(context, sizes, "norm_after", tensors->attention_norm_after, y);
    stream->h = model_add(context, "add", sizes->adds_normed ? stream->normed : stream->h, y);
    model_scope_end(context);
}

static tapml_graph_value gated(struct model_context *context,
                               const struct sizes *sizes,
                               tapml_graph_value a,
                               tapml_graph_value b)
{
    return model_multiply(context, "mul", model_activation(context, sizes->activation, a), b);
}

// What goes into the last linear layer.
static tapml_graph_value widen(struct model_context *context,
                               const struct sizes *sizes,
                               const struct block_dense *dense,
                               tapml_graph_value x)
{
    const int64_t width = dense->width;
    struct model_linear linear = {.tensor = dense->gate,
                                  .in = sizes->hidden,
                                  .out = width,
                                  .has_bias = sizes->has_mlp_biases,
                                  .is_transposed = sizes->decoder->is_transposed};
    tapml_graph_value y = 0, gate = 0;

    switch (sizes->decoder->mlp) {
    case MODEL_MLP_GATED:
        // The activation stands beside its gate.
        gate = model_activation(context, sizes->activation,
                                model_linear(context, "gate_proj", x, &linear));
        linear.tensor = dense->up;
        return model_multiply(context, "mul", gate, model_linear(context, "up_proj", x, &linear));
    case MODEL_MLP_FUSED:
        linear.out = 2 * width;
        y = model_linear(context, "gate_up_proj", x, &linear);
        return gated(context, sizes, model_slice(context, y, 1, 0, width),
                     model_slice(context, y, 1, width, 2 * width));
    case MODEL_MLP_PLAIN:
        linear.tensor = dense->up;
        return model_activation(context, sizes->activation,
                                model_linear(context, "up_proj", x, &linear));
    }
    return y;
}

tapml_graph_value block_dense(struct model_context *context,
                              const struct sizes *sizes,
                              const struct block_dense *dense,
                              tapml_graph_value x)
{
    const struct model_linear down = {.tensor = dense->down,
                                      .in = dense->width,
                                      .out = sizes->hidden,
                                      .has_bias = sizes->has_mlp_biases,
                                      .is_transposed = sizes->decoder->is_transposed};

    return model_linear(context, "down_proj", widen(context, sizes, dense, x), &down);
}

void block_mlp(struct model_context *context,
               const struct block *block,
               struct block_stream *stream)
{
    const struct sizes *sizes = block->sizes;
    const struct model_decoder_tensors *tensors = &sizes->decoder->tensors;
    const struct sizes_layer layer = sizes_layer(context, sizes, context->layer);

    const struct block_dense dense = {tensors->gate, tensors->up, tensors->down, sizes->mlp_width};

    model_scope_begin(context, "mlp");

    tapml_graph_value x = sizes->is_parallel ? stream->before : stream->h;

    x = sizes->is_parallel && tensors->mlp_norm == NULL
            ? stream->normed
            : block_norm(context, sizes, "norm", tensors->mlp_norm, x);

    tapml_graph_value y = layer.has_experts ? block_experts(context, sizes, x)
                                            : block_dense(context, sizes, &dense, x);

    y = block_norm(context, sizes, "norm_after", tensors->mlp_norm_after, y);
    stream->h = model_add(context, "add", sizes->adds_normed ? x : stream->h, y);
    model_scope_end(context);
}
