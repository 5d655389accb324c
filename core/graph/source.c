// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "graph/source.h"

#include "base/arena.h"
#include "model/checkpoint.h"
#include "tensor/dtype.h"

#include <stdio.h>
#include <string.h>

// Adds a dense value under its name.
static tapml_status add(struct draft *draft,
                        enum draft_class class,
                        const struct graph_value *value,
                        const struct view *view,
                        uint32_t *out_index)
{
    struct graph_value added = *value;
    struct view dense = *view;

    TAPML_TRY(view_dense(&dense));
    draft_set_view(&added, &dense);
    added.producer = GRAPH_NONE;
    TAPML_TRY(draft_take(draft, class, value->name, (uint32_t)draft->value_count, &added.name));
    return draft_add_value(draft, &added, out_index);
}

static tapml_status add_input(struct draft *draft,
                              const struct graph_value *value,
                              const struct view *view,
                              uint32_t *out_index)
{
    const struct affine rows = {0, {[AFFINE_ROWS] = 1}};

    if (value->from > TAPML_FROM_FILL) {
        return status_fail(TAPML_INVALID, "source %u is unknown, expected 0 to %u", value->from,
                           TAPML_FROM_FILL);
    }
    if (value->from == TAPML_FROM_HOST &&
        (strcmp(value->name, "rows") != 0 || value->dtype != TAPML_I32 || view->rank != 1 ||
         !affine_equal(&view->shape[0], &rows))) {
        return status_fail(TAPML_INVALID, "the host fills 'rows', i32 [R], only");
    }
    return add(draft, DRAFT_INPUT, value, view, out_index);
}

// A state outlives the call, so that what a call brings has no place in its shape.
static tapml_status add_state(struct draft *draft,
                              const struct graph_value *value,
                              const struct view *view,
                              uint32_t *out_index)
{
    for (uint32_t i = 0; i < view->rank; i++) {
        struct affine rest = view->shape[i];

        rest.factor[AFFINE_CAPACITY] = 0;
        if (!affine_is_constant(&rest)) {
            return status_fail(TAPML_INVALID, "axis %u of a state is made of numbers and C only",
                               i);
        }
    }
    return add(draft, DRAFT_STATE, value, view, out_index);
}

// Bytes of a shape of plain numbers.
static tapml_status plain_bytes(const struct view *view, uint32_t dtype, uint64_t *out_bytes)
{
    struct affine count = affine_constant(1);

    for (uint32_t i = 0; i < view->rank; i++) {
        if (!affine_is_constant(&view->shape[i]) || view->shape[i].constant < 1) {
            return status_fail(TAPML_INVALID, "the extent of axis %u must be a number from 1 on",
                               i);
        }
        TAPML_TRY(affine_multiply(&count, &view->shape[i], &count));
    }
    if (!view_is_bounded(&count)) {
        return status_fail(TAPML_INVALID, "%lld values are too many", (long long)count.constant);
    }
    *out_bytes = (uint64_t)count.constant * dtype_bytes(dtype);
    return TAPML_OK;
}

enum { CONSTANT_NAME = HASH_TEXT + 16 };

// "constant:<hash of type, shape and bytes>"
static tapml_status constant_name(const struct graph_value *value,
                                  const struct view *view,
                                  char out_name[CONSTANT_NAME])
{
    struct hash_state *state = hash_begin();
    char text[HASH_TEXT];

    if (state == NULL) {
        return status_no_memory();
    }
    hash_add(state, &value->dtype, sizeof(value->dtype));
    hash_add(state, &view->rank, sizeof(view->rank));
    for (uint32_t i = 0; i < view->rank; i++) {
        hash_add(state, &view->shape[i].constant, sizeof(view->shape[i].constant));
    }
    hash_add(state, value->data, (size_t)value->data_bytes);
    hash_text(hash_end(state), text);
    snprintf(out_name, CONSTANT_NAME, "constant:%s", text);
    return TAPML_OK;
}

static tapml_status add_constant(struct draft *draft,
                                 const struct graph_value *value,
                                 const struct view *view,
                                 uint32_t *out_index)
{
    struct graph_value constant = *value;
    char name[CONSTANT_NAME];

    if (value->data == NULL) {
        return status_fail(TAPML_INVALID, "there is no data");
    }
    TAPML_TRY(plain_bytes(view, value->dtype, &constant.data_bytes));
    TAPML_TRY(constant_name(&constant, view, name));
    if (draft_find(draft, DRAFT_CONSTANT, name, out_index)) {
        return TAPML_OK;
    }

    void *copy = arena_new(draft->arena, (size_t)constant.data_bytes);

    if (copy == NULL) {
        return status_no_memory();
    }
    memcpy(copy, value->data, (size_t)constant.data_bytes);
    constant.data = copy;
    constant.name = name;
    return add(draft, DRAFT_CONSTANT, &constant, view, out_index);
}

enum { SHAPE_TEXT = 128 };

static void shape_text(const struct view *view, char out_text[SHAPE_TEXT])
{
    size_t length = 1;

    out_text[0] = '[';
    for (uint32_t i = 0; i < view->rank; i++) {
        // Six numbers below 2^63 take no more than 125 bytes with their commas.
        length += (size_t)snprintf(out_text + length, SHAPE_TEXT - length, "%s%lld",
                                   i > 0 ? "," : "", (long long)view->shape[i].constant);
    }
    snprintf(out_text + length, SHAPE_TEXT - length, "]");
}

static tapml_status same_shape(const struct view *expected, const struct view *found)
{
    int is_same = expected->rank == found->rank;

    for (uint32_t i = 0; is_same && i < expected->rank; i++) {
        is_same = affine_equal(&expected->shape[i], &found->shape[i]);
    }
    if (is_same) {
        return TAPML_OK;
    }

    char expected_text[SHAPE_TEXT];
    char found_text[SHAPE_TEXT];

    shape_text(expected, expected_text);
    shape_text(found, found_text);
    return status_fail(TAPML_INVALID, "its shape is %s, expected %s", found_text, expected_text);
}

// Takes type and bytes from the checkpoint.
static tapml_status read_checkpoint(const struct checkpoint *checkpoint,
                                    const struct view *expected,
                                    struct graph_value *weight)
{
    const struct checkpoint_tensor *stored = checkpoint_find(checkpoint, weight->name);
    struct view found = {.rank = 0};

    if (stored == NULL) {
        char text[SHAPE_TEXT];

        shape_text(expected, text);
        return status_fail(TAPML_NOT_FOUND, "the checkpoint lacks it, expected %s", text);
    }
    for (; found.rank < stored->tensor.rank && found.rank < TAPML_MAX_RANK; found.rank++) {
        found.shape[found.rank] = affine_constant(stored->tensor.shape[found.rank]);
    }
    TAPML_TRY(same_shape(expected, &found));
    weight->is_of_adapter = stored->is_of_adapter;
    if (stored->tensor.encoding != NULL) {
        weight->dtype = TAPML_F32; // Until encode_stored gives it blocks or tiles.
        return plain_bytes(expected, weight->dtype, &weight->data_bytes);
    }
    weight->dtype = stored->tensor.dtype;
    weight->data = stored->data;
    weight->data_bytes = stored->bytes;
    return TAPML_OK;
}

static tapml_status add_weight(struct draft *draft,
                               const struct checkpoint *checkpoint,
                               const struct graph_value *value,
                               const struct view *view,
                               uint32_t *out_index)
{
    struct graph_value weight = *value;
    uint32_t known = 0;

    TAPML_TRY(plain_bytes(view, value->dtype, &weight.data_bytes));
    if (value->fold != NULL) {
        return status_fail(TAPML_UNIMPLEMENTED, "folding '%.32s' is not supported", value->fold);
    }
    if (draft_find(draft, DRAFT_WEIGHT, value->name, &known)) {
        const struct view other = draft_view(&draft->values[known]);

        TAPML_TRY(same_shape(view, &other));
        *out_index = known;
        return TAPML_OK;
    }
    if (checkpoint != NULL) {
        TAPML_TRY(read_checkpoint(checkpoint, view, &weight));
    }
    return add(draft, DRAFT_WEIGHT, &weight, view, out_index);
}

tapml_status source_add(struct draft *draft,
                        const struct checkpoint *checkpoint,
                        const struct graph_value *value,
                        const struct view *view,
                        uint32_t *out_index)
{
    if (dtype_find(dtype_name(value->dtype)) != value->dtype) {
        return status_fail(TAPML_INVALID, "dtype 0x%x is unknown", value->dtype);
    }
    switch (value->kind) {
    case GRAPH_INPUT:
        return add_input(draft, value, view, out_index);
    case GRAPH_CONSTANT:
        return add_constant(draft, value, view, out_index);
    case GRAPH_WEIGHT:
        return add_weight(draft, checkpoint, value, view, out_index);
    case GRAPH_STATE:
        return add_state(draft, value, view, out_index);
    case GRAPH_COMPUTED:
    case GRAPH_VIEW:
        break;
    }
    return status_fail(TAPML_INTERNAL, "kind %d has a source of its own", (int)value->kind);
}
