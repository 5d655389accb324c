// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The layouts of queries, keys and values, and what is done to their heads.
#include <tapml/model/block.h>
#include <tapml/model/recurrence.h>

// -- Layouts -------------------------------------------------------------------------------------

static tapml_graph_value heads_of(struct model_context *context,
                                  const struct model_block *block,
                                  tapml_graph_value x,
                                  int64_t heads)
{
    const int64_t shape[] = {TAPML_SYM_TOKENS, heads, block->sizes->head_width};

    return model_reshape(context, x, shape, 3);
}

static tapml_graph_value project(struct model_context *context,
                                 const struct model_block *block,
                                 const char *name,
                                 const char *tensor,
                                 tapml_graph_value x,
                                 int64_t heads)
{
    const struct model_linear linear = {.tensor = tensor,
                                        .in = block->sizes->hidden,
                                        .out = heads * block->sizes->head_width,
                                        .has_bias = block->sizes->has_attention_biases,
                                        .is_transposed = block->decoder->is_transposed};

    return model_linear(context, name, x, &linear);
}

struct model_heads model_layout_separate(struct model_context *context,
                                         const struct model_block *block,
                                         tapml_graph_value x)
{
    const struct model_decoder_tensors *tensors = &block->decoder->tensors;
    const int64_t heads = block->sizes->heads, kv_heads = block->sizes->kv_heads;
    struct model_heads all;

    all.q =
        heads_of(context, block, project(context, block, "q_proj", tensors->q, x, heads), heads);
    all.k = heads_of(context, block, project(context, block, "k_proj", tensors->k, x, kv_heads),
                     kv_heads);
    all.v = heads_of(context, block, project(context, block, "v_proj", tensors->v, x, kv_heads),
                     kv_heads);
    return all;
}

// The heads `begin` .. `begin + count` of a fused tensor.
static tapml_graph_value block_of(struct model_context *context,
                                  const struct model_block *block,
                                  tapml_graph_value fused,
                                  int64_t begin,
                                  int64_t count)
{
    const int64_t width = block->sizes->head_width;
    const tapml_graph_value part =
        model_slice(context, fused, 1, begin * width, (begin + count) * width);

    return heads_of(context, block, part, count);
}

struct model_heads model_layout_blocks(struct model_context *context,
                                       const struct model_block *block,
                                       tapml_graph_value x)
{
    const int64_t heads = block->sizes->heads, kv_heads = block->sizes->kv_heads;
    const tapml_graph_value fused =
        project(context, block, "qkv_proj", block->decoder->tensors.qkv, x, heads + 2 * kv_heads);

    return (struct model_heads){block_of(context, block, fused, 0, heads),
                                block_of(context, block, fused, heads, kv_heads),
                                block_of(context, block, fused, heads + kv_heads, kv_heads)};
}

struct model_heads model_layout_whole(struct model_context *context,
                                      const struct model_block *block,
                                      tapml_graph_value x)
{
    const int64_t heads = block->sizes->heads;
    const int64_t shape[] = {TAPML_SYM_TOKENS, heads, 3, block->sizes->head_width};
    const tapml_graph_value fused = model_reshape(
        context, project(context, block, "qkv_proj", block->decoder->tensors.qkv, x, 3 * heads),
        shape, 4);
    tapml_graph_value part[3];

    if (block->sizes->kv_heads != heads) {
        model_fail(context, TAPML_UNIMPLEMENTED,
                   "%lld key heads for %lld query heads do not fit into a tensor of whole heads",
                   (long long)block->sizes->kv_heads, (long long)heads);
    }
    for (int64_t i = 0; i < 3; i++) {
        part[i] = heads_of(context, block, model_slice(context, fused, 2, i, i + 1), heads);
    }
    return (struct model_heads){part[0], part[1], part[2]};
}

struct model_heads model_layout_groups(struct model_context *context,
                                       const struct model_block *block,
                                       tapml_graph_value x)
{
    const int64_t heads = block->sizes->heads, groups = block->sizes->kv_heads;
    const int64_t queries = heads / groups;
    const int64_t shape[] = {TAPML_SYM_TOKENS, groups, queries + 2, block->sizes->head_width};
    const tapml_graph_value fused = model_reshape(
        context,
        project(context, block, "qkv_proj", block->decoder->tensors.qkv, x, heads + 2 * groups),
        shape, 4);
    tapml_graph_value q = model_slice(context, fused, 2, 0, queries);
    const tapml_graph_value k = model_slice(context, fused, 2, queries, queries + 1);
    const tapml_graph_value v = model_slice(context, fused, 2, queries + 1, queries + 2);

    // A view has one stride for all heads.
    q = queries > 1 ? model_copy(context, "q_proj", q) : q;
    return (struct model_heads){heads_of(context, block, q, heads),
                                heads_of(context, block, k, groups),
                                heads_of(context, block, v, groups)};
}

// -- Steps ---------------------------------------------------------------------------------------

static tapml_graph_value norm_of(struct model_context *context,
                                 const struct model_block *block,
                                 const char *name,
                                 const char *tensor,
                                 tapml_graph_value x)
{
    const struct model_norm norm = {.kind = block->decoder->norm,
                                    .tensor = tensor,
                                    .width = block->sizes->head_width,
                                    .eps = block->sizes->eps,
                                    .offset = block->decoder->norm_offset,
                                    .has_bias = block->decoder->has_norm_biases};

    return tensor != NULL ? model_norm(context, name, x, &norm) : x;
}

void model_heads_norm(struct model_context *context,
                      const struct model_block *block,
                      struct model_heads *heads)
{
    const struct model_decoder_tensors *tensors = &block->decoder->tensors;

    heads->q = norm_of(context, block, "q_norm", tensors->q_norm, heads->q);
    heads->k = norm_of(context, block, "k_norm", tensors->k_norm, heads->k);
}

static tapml_graph_value norm_rows(struct model_context *context,
                                   const struct model_block *block,
                                   const char *name,
                                   const char *tensor,
                                   tapml_graph_value x,
                                   int64_t heads)
{
    const struct model_norm norm = {.kind = block->decoder->norm,
                                    .tensor = tensor,
                                    .width = heads * block->sizes->head_width,
                                    .eps = block->sizes->eps,
                                    .offset = block->decoder->norm_offset,
                                    .has_bias = block->decoder->has_norm_biases};
    const int64_t rows[] = {TAPML_SYM_TOKENS, norm.width};

    x = model_norm(context, name, model_reshape(context, x, rows, 2), &norm);
    return heads_of(context, block, x, heads);
}

void model_heads_norm_rows(struct model_context *context,
                           const struct model_block *block,
                           struct model_heads *heads)
{
    const struct model_decoder_tensors *tensors = &block->decoder->tensors;
    const struct model_sizes *sizes = block->sizes;

    heads->q = norm_rows(context, block, "q_norm", tensors->q_norm, heads->q, sizes->heads);
    heads->k = norm_rows(context, block, "k_norm", tensors->k_norm, heads->k, sizes->kv_heads);
}

tapml_graph_value model_block_norm_each(struct model_context *context,
                                        const struct model_block *block,
                                        const char *name,
                                        tapml_graph_value x,
                                        int64_t heads,
                                        tapml_graph_value weights)
{
    const int64_t rows[] = {TAPML_SYM_TOKENS, heads * block->sizes->head_width};
    const struct model_norm norm = {
        .kind = block->decoder->norm, .width = block->sizes->head_width, .eps = block->sizes->eps};
    tapml_graph_value y;

    model_scope_begin(context, name);
    y = model_norm(context, "norm", x, &norm);
    y = model_multiply(context, "mul", model_reshape(context, y, rows, 2),
                       model_every_token(context, weights, rows[1]));
    model_scope_end(context);
    return heads_of(context, block, y, heads);
}

void model_heads_clip_to(struct model_context *context, struct model_heads *heads, double limit)
{
    if (limit > 0) {
        heads->q = model_clip(context, "q_clip", heads->q, -limit, limit);
        heads->k = model_clip(context, "k_clip", heads->k, -limit, limit);
        heads->v = model_clip(context, "v_clip", heads->v, -limit, limit);
    }
}

void model_heads_clip(struct model_context *context,
                      const struct model_block *block,
                      struct model_heads *heads)
{
    (void)block;
    model_heads_clip_to(context, heads, model_config_number_of(context, "/clip_qkv", 0));
}

tapml_graph_value model_block_turn(struct model_context *context,
                                   const struct model_block *block,
                                   const char *name,
                                   tapml_graph_value x)
{
    const enum model_layer_rope rope = block->layer.rope;

    return rope != MODEL_ROPE_NONE
               ? model_rope(context, name, x, block->ropes[rope].cosines, block->ropes[rope].sines,
                            block->sizes->is_rope_interleaved)
               : x;
}

void model_heads_turn(struct model_context *context,
                      const struct model_block *block,
                      struct model_heads *heads)
{
    heads->q = model_block_turn(context, block, "q_rope", heads->q);
    heads->k = model_block_turn(context, block, "k_rope", heads->k);
}

void model_heads_factor(struct model_context *context,
                        const struct model_block *block,
                        struct model_heads *heads)
{
    const int64_t shape[] = {TAPML_SYM_TOKENS, 1, 1};
    const tapml_graph_value factors =
        model_reshape(context, model_block_factors(context, block), shape, 3);
    const tapml_graph_value rows = model_repeat(context, factors, 1, block->sizes->heads);

    heads->q = model_multiply(context, "q_factor", heads->q,
                              model_repeat(context, rows, 2, block->sizes->head_width));
}
