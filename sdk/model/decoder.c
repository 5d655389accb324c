// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include <tapml/model/block.h>
#include <tapml/model/wrapper.h>

#include <math.h>
#include <string.h>

// The inputs that `fill` computes: cosines, then sines, of each rope.
static const char *const table_names[MODEL_ROPE_COUNT][2] = {{"rope.cos", "rope.sin"},
                                                             {"rope.local.cos", "rope.local.sin"}};
static const char positions_name[] = "positions";
static const char factors_name[] = "query_factors";

static int has_head(struct model_context *context,
                    const struct model_sizes *sizes,
                    const char *tensor,
                    int is_expected)
{
    const int64_t shape[] = {sizes->vocabulary, sizes->embed_width};
    const struct model_name name = model_name(context, tensor, context->layer, ".weight");

    return model_has_tensor(context, name.text, shape, 2, is_expected);
}

// Without a tensor of its own, or where the config ties it, the head is the embedding.
static const char *head_tensor(struct model_context *context, const struct model_sizes *sizes)
{
    const struct model_decoder_tensors *tensors = &sizes->decoder->tensors;

    if (!sizes->is_tied && has_head(context, sizes, tensors->head, 1)) {
        return tensors->head;
    }
    return !sizes->is_tied && tensors->newer_head != NULL &&
                   has_head(context, sizes, tensors->newer_head, 0)
               ? tensors->newer_head
               : tensors->embed;
}

static int is_rope_used(struct model_context *context, const struct model_sizes *sizes, int rope)
{
    for (int64_t i = 0; i < sizes->layers && context->status == TAPML_OK; i++) {
        if ((int)model_sizes_layer(context, sizes, i).rope == rope) {
            return 1;
        }
    }
    return 0;
}

static void make_tables(struct model_context *context, struct model_block *block)
{
    for (int i = 0; i < MODEL_ROPE_COUNT; i++) {
        const int64_t shape[] = {TAPML_SYM_TOKENS, block->sizes->ropes[i].pairs};

        if (is_rope_used(context, block->sizes, i)) {
            block->ropes[i].cosines =
                model_input(context, table_names[i][0], TAPML_FROM_FILL, TAPML_F32, shape, 2);
            block->ropes[i].sines =
                model_input(context, table_names[i][1], TAPML_FROM_FILL, TAPML_F32, shape, 2);
        }
    }
}

// Keys of what no layer may use count as read all the same.
static void read_factors(struct model_context *context, const struct model_decoder *decoder)
{
    float first = 0;

    if (decoder->factors != NULL) {
        decoder->factors(context, 0, 1, &first);
    }
}

tapml_graph_value model_block_factors(struct model_context *context,
                                      const struct model_block *block)
{
    const int64_t tokens = TAPML_SYM_TOKENS;

    if (*block->factors == 0) {
        *block->factors =
            model_input(context, factors_name, TAPML_FROM_FILL, TAPML_F32, &tokens, 1);
    }
    return *block->factors;
}

tapml_graph_value model_embed_root(struct model_context *context,
                                   const struct model_block *block,
                                   tapml_graph_value x)
{
    return model_scale(context, "embed_scale", x, (double)sqrtf((float)block->sizes->hidden));
}

tapml_graph_value model_embed_positions_from(struct model_context *context,
                                             const struct model_block *block,
                                             tapml_graph_value x,
                                             int64_t first)
{
    const struct model_sizes *sizes = block->sizes;
    const int64_t tokens = TAPML_SYM_TOKENS;
    const int64_t shape[] = {first + sizes->positions, sizes->hidden};
    const struct model_name name =
        model_name(context, block->decoder->tensors.positions, 0, ".weight");
    const tapml_graph_value positions =
        model_input(context, positions_name, TAPML_FROM_FILL, TAPML_I32, &tokens, 1);
    tapml_graph_value table = model_weight(context, name.text, shape, 2);

    table = first > 0 ? model_slice(context, table, 0, first, shape[0]) : table;
    return model_add(context, "add_positions", x,
                     model_embed_value(context, "embed_positions", positions, table));
}

tapml_graph_value model_embed_positions(struct model_context *context,
                                        const struct model_block *block,
                                        tapml_graph_value x)
{
    return model_embed_positions_from(context, block, x, 0);
}

tapml_graph_value model_embed_norm(struct model_context *context,
                                   const struct model_block *block,
                                   tapml_graph_value x)
{
    return model_block_norm(context, block, "embed_norm", block->decoder->tensors.embed_norm, x);
}

static tapml_graph_value take_steps(struct model_context *context,
                                    const struct model_block *block,
                                    model_value_fn *const *steps,
                                    tapml_graph_value x)
{
    for (size_t i = 0; i < MODEL_DECODER_STEPS_MAX && steps[i] != NULL; i++) {
        x = steps[i](context, block, x);
    }
    return x;
}

static void add_logits(struct model_context *context,
                       const struct model_block *block,
                       tapml_graph_value h,
                       tapml_graph_value rows)
{
    const struct model_sizes *sizes = block->sizes;
    const struct model_linear head = {.tensor = head_tensor(context, sizes),
                                      .in = sizes->embed_width,
                                      .out = sizes->vocabulary,
                                      .has_bias = sizes->has_head_bias,
                                      .bias = block->decoder->tensors.head};
    const tapml_graph_value logits =
        model_linear(context, "head", model_gather_rows(context, "rows", h, rows), &head);

    model_output(context, "logits",
                 take_steps(context, block, block->decoder->logit_steps, logits));
}

static tapml_graph_value
build_layers(struct model_context *context, struct model_block *block, tapml_graph_value h)
{
    const struct model_decoder *decoder = block->decoder;
    model_value_fn *layer = decoder->layer != NULL ? decoder->layer : model_layer_residual;

    for (context->layer = 0; context->layer < block->sizes->layers; context->layer++) {
        block->layer = model_sizes_layer(context, block->sizes, context->layer);
        model_output_hidden(context, context->layer, h);
        model_scope_begin(context, "layers.{i}");
        h = layer(context, block, h);
        model_scope_end(context);
    }
    return h;
}

static void build_graph(struct model_context *context, struct model_block *block)
{
    const struct model_sizes *sizes = block->sizes;
    const struct model_decoder *decoder = block->decoder;
    const int64_t tokens = TAPML_SYM_TOKENS;
    const int64_t wanted = TAPML_SYM_ROWS;
    const tapml_graph_value ids =
        model_input(context, "input_ids", TAPML_FROM_USER, TAPML_I32, &tokens, 1);
    const tapml_graph_value rows =
        model_input(context, "rows", TAPML_FROM_HOST, TAPML_I32, &wanted, 1);

    model_find_names(context, decoder->tensors.embed, sizes->vocabulary, sizes->embed_width);
    make_tables(context, block);
    read_factors(context, decoder);
    block->slopes = decoder->slopes != NULL ? decoder->slopes(context, sizes->heads) : 0;

    tapml_graph_value h = model_embed(context, "embed", ids, decoder->tensors.embed,
                                      sizes->vocabulary, sizes->embed_width);

    h = take_steps(context, block, decoder->embed_steps, h);
    h = build_layers(context, block, model_stand_in(context, h, sizes->hidden));
    h = model_block_norm(context, block, "norm", decoder->tensors.norm, h);
    h = take_steps(context, block, decoder->norm_steps, h);
    model_output_hidden(context, sizes->layers, h);
    add_logits(context, block, h, rows);
}

void model_decoder_build(struct model_context *context, const void *description)
{
    struct model_sizes sizes;
    tapml_graph_value factors = 0;
    struct model_experts experts = {.count = 0};
    struct model_block block = {
        .decoder = description, .sizes = &sizes, .factors = &factors, .experts = &experts};

    model_sizes_read(context, description, &sizes);
    if (context->status == TAPML_OK) {
        build_graph(context, &block);
    }
}

// The rope of which `name` is a table, or MODEL_ROPE_NONE.
static enum model_layer_rope
find_table(const struct model_sizes *sizes, const char *name, int *out_is_sine)
{
    for (int i = 0; i < MODEL_ROPE_COUNT; i++) {
        *out_is_sine = strcmp(name, table_names[i][1]) == 0;
        if (sizes->ropes[i].pairs > 0 && (*out_is_sine || strcmp(name, table_names[i][0]) == 0)) {
            return (enum model_layer_rope)i;
        }
    }
    return MODEL_ROPE_NONE;
}

static void fill_factors(struct model_context *context,
                         const struct model_decoder *decoder,
                         const struct model_fill *fill)
{
    if (fill->count < 0 || fill->target_bytes / sizeof(float) != (uint64_t)fill->count) {
        model_fail(context, TAPML_INVALID, "factors of %lld tokens have not %llu bytes",
                   (long long)fill->count, (unsigned long long)fill->target_bytes);
        return;
    }
    decoder->factors(context, fill->first, fill->count, fill->target);
}

void model_decoder_fill(struct model_context *context,
                        const void *description,
                        const struct model_fill *fill)
{
    struct model_sizes sizes;
    int is_sine = 0;

    model_sizes_read(context, description, &sizes);
    if (context->status != TAPML_OK) {
        return;
    }

    const enum model_layer_rope rope = find_table(&sizes, fill->name, &is_sine);

    if (rope != MODEL_ROPE_NONE) {
        model_rope_fill(context, &sizes.ropes[rope], is_sine, fill);
    } else if (sizes.positions > 0 && strcmp(fill->name, positions_name) == 0) {
        model_fill_positions(context, fill, sizes.positions);
    } else if (sizes.decoder->factors != NULL && strcmp(fill->name, factors_name) == 0) {
        fill_factors(context, sizes.decoder, fill);
    } else {
        model_fill_nothing(context, fill);
    }
}

tapml_status model_decoder_create(const struct model_decoder *decoder,
                                  const tapml_host *host,
                                  tapml_call *call,
                                  tapml_object **out_root)
{
    const struct model_architecture architecture = {
        .model_type = decoder->model_type,
        .class_name = decoder->class_name,
        .old_types = decoder->old_types,
        .description = decoder,
        .build = model_decoder_build,
        .fill = model_decoder_fill,
    };

    return model_root_create(&architecture, host, call, out_root);
}
