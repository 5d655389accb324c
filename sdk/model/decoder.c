// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "block.h"

#include <tapml/model/root.h>

#include <math.h>
#include <string.h>

// The inputs that `fill` computes: cosines, then sines, of each rope.
static const char *const table_names[SIZES_ROPE_COUNT][2] = {{"rope.cos", "rope.sin"},
                                                             {"rope.local.cos", "rope.local.sin"}};
static const char positions_name[] = "positions";

// Hub files often leave the prefix out.
static void find_prefix(struct model_context *context, const struct sizes *sizes)
{
    const struct model_decoder *decoder = sizes->decoder;
    const int64_t shape[] = {sizes->vocabulary, sizes->hidden};
    const struct model_name name = model_name(context, decoder->tensors.embed, 0, ".weight");

    if (decoder->prefix != NULL && !model_has_tensor(context, name.text, shape, 2, 1)) {
        context->dropped = decoder->prefix;
    }
}

// Without a tensor of its own, or where the config ties it, the head is the embedding.
static const char *head_tensor(struct model_context *context, const struct sizes *sizes)
{
    const struct model_decoder_tensors *tensors = &sizes->decoder->tensors;
    const int64_t shape[] = {sizes->vocabulary, sizes->hidden};
    const struct model_name name = model_name(context, tensors->head, 0, ".weight");

    return !sizes->is_tied && model_has_tensor(context, name.text, shape, 2, 1) ? tensors->head
                                                                                : tensors->embed;
}

static int is_rope_used(struct model_context *context, const struct sizes *sizes, int rope)
{
    for (int64_t i = 0; i < sizes->layers && context->status == TAPML_OK; i++) {
        if ((int)sizes_layer(context, sizes, i).rope == rope) {
            return 1;
        }
    }
    return 0;
}

static void make_tables(struct model_context *context, struct block *block)
{
    for (int i = 0; i < SIZES_ROPE_COUNT; i++) {
        const int64_t shape[] = {TAPML_SYM_TOKENS, block->sizes->ropes[i].pairs};

        if (is_rope_used(context, block->sizes, i)) {
            block->ropes[i].cosines =
                model_input(context, table_names[i][0], TAPML_FROM_FILL, TAPML_F32, shape, 2);
            block->ropes[i].sines =
                model_input(context, table_names[i][1], TAPML_FROM_FILL, TAPML_F32, shape, 2);
        }
    }
}

// For a power of two p of heads 2^(-8i / p), i from 1 on; beyond it every second slope of 2p heads.
static tapml_graph_value make_slopes(struct model_context *context, int64_t heads)
{
    float slopes[SIZES_HEADS_MAX];
    const double power = exp2(floor(log2((double)heads)));

    for (int64_t i = 0; i < heads; i++) {
        const double rest = (double)i - power;

        slopes[i] = (float)(rest < 0 ? exp2(-8 * (double)(i + 1) / power)
                                     : exp2(-4 * (2 * rest + 1) / power));
    }
    return model_constant(context, slopes, heads);
}

static tapml_graph_value
add_positions(struct model_context *context, const struct sizes *sizes, tapml_graph_value h)
{
    const int64_t tokens = TAPML_SYM_TOKENS;
    const tapml_graph_value positions =
        model_input(context, positions_name, TAPML_FROM_FILL, TAPML_I32, &tokens, 1);
    const tapml_graph_value rows =
        model_embed(context, "embed_positions", positions, sizes->decoder->tensors.positions,
                    sizes->positions, sizes->hidden);

    return model_add(context, "add_positions", h, rows);
}

static tapml_graph_value
embed(struct model_context *context, const struct sizes *sizes, tapml_graph_value ids)
{
    const struct model_decoder *decoder = sizes->decoder;
    tapml_graph_value h = model_embed(context, "embed", ids, decoder->tensors.embed,
                                      sizes->vocabulary, sizes->hidden);

    if (decoder->embed_is_multiplied) {
        h = model_scale(context, "embed_scale", h, (double)sqrtf((float)sizes->hidden));
    }
    if (decoder->tensors.positions != NULL) {
        h = add_positions(context, sizes, h);
    }
    return block_norm(context, sizes, "embed_norm", decoder->tensors.embed_norm, h);
}

static void add_logits(struct model_context *context,
                       const struct sizes *sizes,
                       tapml_graph_value h,
                       tapml_graph_value rows)
{
    const struct model_linear head = {
        .tensor = head_tensor(context, sizes), .in = sizes->hidden, .out = sizes->vocabulary};
    tapml_graph_value logits =
        model_linear(context, "head", model_gather_rows(context, "rows", h, rows), &head);

    if (sizes->logit_scale > 0) {
        logits = model_scale(context, "logit_scale", logits, sizes->logit_scale);
    }
    if (sizes->logit_softcap > 0) {
        logits = model_softcap(context, "logit_softcap", logits, sizes->logit_softcap);
    }
    model_output(context, "logits", logits);
}

static void build_graph(struct model_context *context, struct block *block)
{
    const struct sizes *sizes = block->sizes;
    const int64_t tokens = TAPML_SYM_TOKENS;
    const int64_t wanted = TAPML_SYM_ROWS;
    const tapml_graph_value ids =
        model_input(context, "input_ids", TAPML_FROM_USER, TAPML_I32, &tokens, 1);
    const tapml_graph_value rows =
        model_input(context, "rows", TAPML_FROM_HOST, TAPML_I32, &wanted, 1);

    find_prefix(context, sizes);
    make_tables(context, block);
    block->slopes = sizes->decoder->has_slopes ? make_slopes(context, sizes->heads) : 0;

    struct block_stream stream = {.h = embed(context, sizes, ids)};

    for (context->layer = 0; context->layer < sizes->layers; context->layer++) {
        model_output_hidden(context, context->layer, stream.h);
        model_scope_begin(context, "layers.{i}");
        block_attention(context, block, &stream);
        block_mlp(context, block, &stream);
        model_scope_end(context);
    }

    const tapml_graph_value h =
        block_norm(context, sizes, "norm", sizes->decoder->tensors.norm, stream.h);

    model_output_hidden(context, sizes->layers, h);
    add_logits(context, sizes, h, rows);
}

static void build(struct model_context *context, const void *description)
{
    struct sizes sizes;
    struct block block = {.sizes = &sizes};

    sizes_read(context, description, &sizes);
    if (context->status == TAPML_OK) {
        build_graph(context, &block);
    }
}

// The rope of which `name` is a table, or SIZES_ROPE_NONE.
static enum sizes_rope find_table(const struct sizes *sizes, const char *name, int *out_is_sine)
{
    for (int i = 0; i < SIZES_ROPE_COUNT; i++) {
        *out_is_sine = strcmp(name, table_names[i][1]) == 0;
        if (sizes->ropes[i].pairs > 0 && (*out_is_sine || strcmp(name, table_names[i][0]) == 0)) {
            return (enum sizes_rope)i;
        }
    }
    return SIZES_ROPE_NONE;
}

static void
fill(struct model_context *context, const void *description, const struct model_fill *fill)
{
    struct sizes sizes;
    int is_sine = 0;

    sizes_read(context, description, &sizes);
    if (context->status != TAPML_OK) {
        return;
    }

    const enum sizes_rope rope = find_table(&sizes, fill->name, &is_sine);

    if (rope != SIZES_ROPE_NONE) {
        model_rope_fill(context, &sizes.ropes[rope], is_sine, fill);
    } else if (sizes.positions > 0 && strcmp(fill->name, positions_name) == 0) {
        model_fill_positions(context, fill, sizes.positions);
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
        .description = decoder,
        .build = build,
        .fill = fill,
    };

    return model_root_create(&architecture, host, call, out_root);
}
