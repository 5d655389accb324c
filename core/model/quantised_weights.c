// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "model/quantised_weights.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/text.h"
#include "model/checkpoint.h"
#include "model/quantised_config.h"
#include "model/quantised_parts.h"
#include "model/quantised_tiles.h"
#include "model/quantised_values.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

#include <string.h>

struct applying {
    struct checkpoint *checkpoint;
    const struct quantised_config *config;
    struct checkpoint_tensor *tensors; // The new ones.
    size_t tensor_count, capacity;
    // What became of weights.
    size_t weight_count, packed_count, widened_count;
    uint64_t packed_bytes;             // In another order.
    uint64_t stored_bytes, made_bytes; // Of those that were widened.
};

// Name and shape of the weight, as model plugins know them; or of one matrix of several, whose rows
// are those of the file (-1: the weight).
static tapml_status describe(struct applying *applying,
                             const struct quantised_weight *weight,
                             int64_t matrix,
                             uint64_t *out_count)
{
    int64_t count = 0;
    const struct quantised_layout *layout = weight->scheme->layout;
    const int is_stack = layout->is_split && matrix < 0;
    const int turns = layout->becomes_transposed && matrix < 0;
    struct arena *arena = checkpoint_arena(applying->checkpoint);
    struct checkpoint_tensor *made = &applying->tensors[applying->tensor_count];
    int64_t *shape = arena_array(arena, 3, sizeof(*shape));
    *made = (struct checkpoint_tensor){
        .name = matrix < 0 ? arena_format(arena, "%s%s", weight->module, layout->becomes)
                           : arena_format(arena, "%s%s.%lld", weight->module, layout->becomes,
                                          (long long)matrix),
        .tensor = {.hdr = TAPML_HDR(tapml_tensor), .rank = is_stack ? 3 : 2},
        .file = weight->quants->file,
    };
    if (!shape || !made->name) {
        return status_no_memory();
    }
    int64_t *at = shape;
    if (is_stack) {
        *at++ = weight->matrices;
    }
    at[0] = turns ? weight->columns : weight->rows;
    at[1] = turns ? weight->rows : weight->columns;
    made->tensor.shape = shape;
    TAPML_TRY(shape_count(shape, made->tensor.rank, &count));
    if (count > INT64_MAX / 8) {
        return status_fail(TAPML_INVALID, "%s: tensor '%s' is too large", made->file, made->name);
    }
    *out_count = (uint64_t)count;
    return TAPML_OK;
}

// Widens a weight to bf16 if that loses nothing, else to f32. Only scales that are powers of two
// are worth the attempt: another scale has a longer mantissa.
static tapml_status
widen(struct applying *applying, const struct quantised_weight *weight, uint64_t count)
{
    struct checkpoint_tensor *made = &applying->tensors[applying->tensor_count];
    const int may_be_short = weight->scales->tensor.dtype == TAPML_U8 && !weight->factor;
    made->tensor.dtype = may_be_short ? TAPML_BF16 : TAPML_F32;
    for (;;) {
        made->bytes = count * dtype_bytes(made->tensor.dtype);
        void *copy = checkpoint_copy(applying->checkpoint, made->bytes, sizeof(float));
        if (!copy) {
            return status_no_memory();
        }
        made->data = copy;
        const tapml_status status = quantised_values_write(weight, made->tensor.dtype, copy);
        if (status != TAPML_UNIMPLEMENTED) {
            TAPML_TRY(status);
            break;
        }
        made->tensor.dtype = TAPML_F32;
    }
    checkpoint_leave(applying->checkpoint, weight->quants);
    applying->stored_bytes += weight->quants->bytes;
    applying->made_bytes += made->bytes;
    ++applying->widened_count;
    return TAPML_OK;
}

// Leaves the tensors of a matrix where they lie.
static tapml_status
keep(struct applying *applying, const struct quantised_weight *weight, int64_t matrix)
{
    struct checkpoint_tensor *made = &applying->tensors[applying->tensor_count];
    struct tiles_spans *spans = arena_new(checkpoint_arena(applying->checkpoint), sizeof(*spans));
    if (!spans) {
        return status_no_memory();
    }
    *spans = quantised_tiles_spans(weight, made->tensor.encoding, matrix);
    made->spans = spans;
    made->data = spans->at[0];
    return TAPML_OK;
}

// Puts them into the order of the encoding.
static tapml_status pack(struct applying *applying, const struct quantised_weight *weight)
{
    struct checkpoint_tensor *made = &applying->tensors[applying->tensor_count];
    const tapml_encoding *encoding = made->tensor.encoding;
    void *copy =
        checkpoint_copy(applying->checkpoint, made->bytes, (size_t)encoding_align(encoding));
    if (!copy) {
        return status_no_memory();
    }
    memset(copy, 0, (size_t)made->bytes);
    quantised_tiles_pack(weight, encoding, copy);
    made->data = copy;
    checkpoint_leave(applying->checkpoint, weight->quants);
    ++applying->packed_count;
    applying->packed_bytes += made->bytes;
    return TAPML_OK;
}

static tapml_status reserve(struct applying *applying)
{
    return alloc_grow((void **)&applying->tensors, &applying->capacity, applying->tensor_count,
                      sizeof(*applying->tensors))
               ? TAPML_OK
               : status_no_memory();
}

// One matrix in tiles, or the one of a weight.
static tapml_status add_tiles(struct applying *applying,
                              const struct quantised_weight *weight,
                              const tapml_encoding *encoding,
                              int lies,
                              int64_t matrix)
{
    uint64_t count = 0;
    TAPML_TRY(reserve(applying));
    struct checkpoint_tensor *made = &applying->tensors[applying->tensor_count];
    TAPML_TRY(describe(applying, weight, weight->scheme->layout->is_split ? matrix : -1, &count));
    made->tensor.dtype = TAPML_U8;
    made->tensor.encoding = encoding;
    TAPML_TRY(tiles_bytes(encoding, made->tensor.shape, made->tensor.rank, &made->bytes));
    TAPML_TRY(lies ? keep(applying, weight, matrix) : pack(applying, weight));
    ++applying->tensor_count;
    return TAPML_OK;
}

static tapml_status add_widened(struct applying *applying, const struct quantised_weight *weight)
{
    uint64_t count = 0;
    TAPML_TRY(reserve(applying));
    TAPML_TRY(describe(applying, weight, -1, &count));
    TAPML_TRY(widen(applying, weight, count));
    ++applying->tensor_count;
    return TAPML_OK;
}

static tapml_status add_weight(struct applying *applying, const struct quantised_weight *weight)
{
    int lies = 0;
    const tapml_encoding *encoding = quantised_tiles_find(weight, &lies);
    ++applying->weight_count;
    if (!encoding) {
        return add_widened(applying, weight);
    }
    for (int64_t i = 0; i < weight->matrices; ++i) {
        TAPML_TRY(add_tiles(applying, weight, encoding, lies, i));
    }
    return TAPML_OK;
}

// The layout of which a tensor has the quants, or NULL.
static tapml_status match(const struct applying *applying,
                          const struct checkpoint_tensor *tensor,
                          const struct quantised_layout **out_layout,
                          char out_module[QUANTISED_MODULE_MAX])
{
    int matches = 0;
    *out_layout = NULL;
    for (size_t i = 0; i < quantised_config_count(applying->config) && !matches; ++i) {
        const struct quantised_layout *layout = quantised_config_at(applying->config, i)->layout;
        TAPML_TRY(quantised_parts_match(layout, tensor, &matches, out_module));
        *out_layout = matches ? layout : NULL;
    }
    return TAPML_OK;
}

static int is_part(const struct applying *applying, const struct checkpoint_tensor *tensor)
{
    for (size_t i = 0; i < quantised_config_count(applying->config); ++i) {
        if (quantised_parts_has(applying->checkpoint,
                                quantised_config_at(applying->config, i)->layout, tensor)) {
            return 1;
        }
    }
    return 0;
}

static tapml_status apply_to(struct applying *applying, const struct checkpoint_tensor *tensor)
{
    char module[QUANTISED_MODULE_MAX];
    const struct quantised_layout *layout = NULL;
    const struct quantised_scheme *scheme = NULL;
    struct quantised_weight weight;
    TAPML_TRY(match(applying, tensor, &layout, module));
    if (layout) {
        TAPML_TRY(quantised_config_find(applying->config, module, &scheme));
        if (!scheme || scheme->layout != layout) {
            return status_fail(TAPML_INVALID,
                               "%s: tensor '%s': expected what 'quantization_config' says of its "
                               "module, %s%s, found %s of %s",
                               tensor->file, tensor->name, scheme ? scheme->layout->name : "no",
                               scheme ? "" : " quantised weight", quantised_parts_type(tensor),
                               layout->name);
        }
        TAPML_TRY(quantised_parts_find(applying->checkpoint, scheme, tensor, module, &weight));
        return add_weight(applying, &weight);
    }
    if (!is_part(applying, tensor)) {
        TAPML_TRY(reserve(applying));
        applying->tensors[applying->tensor_count++] = *tensor;
    }
    return TAPML_OK;
}

static const char *inputs_of(const struct quantised_config *config)
{
    const char *activations = NULL;
    for (size_t i = 0; i < quantised_config_count(config) && !activations; ++i) {
        activations = quantised_config_at(config, i)->activations;
    }
    return activations;
}

// One sentence of what is done otherwise than the checkpoint says.
static tapml_status remark(const struct applying *applying)
{
    struct text text;
    const char *inputs = inputs_of(applying->config);
    const char *states = quantised_config_states(applying->config);
    text_init(&text);
    text_format(&text, "%zu quantised weights (%s) are used as they are stored",
                applying->weight_count, quantised_config_method(applying->config));
    if (applying->packed_count > 0) {
        text_format(&text, ", %zu of them put in another order, which takes %llu bytes",
                    applying->packed_count, (unsigned long long)applying->packed_bytes);
    }
    if (applying->widened_count > 0) {
        text_format(&text, "%s %zu of them widened, from %llu bytes to %llu",
                    applying->packed_count > 0 ? " and" : ",", applying->widened_count,
                    (unsigned long long)applying->stored_bytes,
                    (unsigned long long)applying->made_bytes);
    }
    if (inputs) {
        text_format(&text,
                    "; some of their inputs stay as they are, which the checkpoint quantises %s",
                    inputs);
    }
    if (states) {
        text_format(&text, "; so do %s", states);
    }
    tapml_status status = text_status(&text);
    if (status == TAPML_OK) {
        status = checkpoint_set_remark(applying->checkpoint, text.data);
    }
    text_release(&text);
    return status;
}

static tapml_status apply(struct applying *applying)
{
    const size_t count = checkpoint_count(applying->checkpoint);
    for (size_t i = 0; i < count; ++i) {
        TAPML_TRY(apply_to(applying, checkpoint_at(applying->checkpoint, i)));
    }
    TAPML_TRY(checkpoint_replace(applying->checkpoint, applying->tensors, applying->tensor_count));
    if (applying->weight_count > 0) {
        TAPML_TRY(remark(applying));
    }
    return checkpoint_finish(applying->checkpoint);
}

tapml_status quantised_weights_apply(const char *folder, struct checkpoint *checkpoint)
{
    struct quantised_config *config = NULL;
    TAPML_TRY(quantised_config_open(folder, &config));
    struct applying applying = {.checkpoint = checkpoint, .config = config};
    const tapml_status status = config ? apply(&applying) : TAPML_OK;
    alloc_free(applying.tensors);
    quantised_config_destroy(config);
    TAPML_TRY(status);
    return checkpoint_check_types(checkpoint);
}
