// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "exec/state.h"

#include "base/assert.h"
#include "exec/cast.h"
#include "tensor/convert.h"
#include "tensor/dtype.h"
#include "tensor/encoding.h"
#include "tensor/shape.h"

#include <string.h>

enum { ELEMENT_BYTES_MAX = 8 };

tapml_status state_init(struct state *state,
                        const struct graph_value *value,
                        const struct affine_point *point,
                        activation_set mark)
{
    int64_t shape[TAPML_MAX_RANK], count = 0;
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < value->rank; i++) {
        for (uint32_t k = 0; k < AFFINE_CAPACITY; k++) {
            if (value->shape[i].factor[k] != 0) {
                return status_fail(TAPML_INVALID,
                                   "state '%s' changes its shape from call to call in axis %u",
                                   value->name, i);
            }
        }
        shape[i] = affine_at(&value->shape[i], point);
    }
    const tapml_status status = shape_count(shape, value->rank, &count);
    if (status != TAPML_OK) {
        return status_explain(status, "while sizing state '%s'", value->name);
    }
    uint64_t padding = 0;
    if (value->encoding) { // Rows of it are rows of bytes, and behind them it is padded.
        TAPML_TRY(encoding_bytes(value->encoding, value->dtype, shape, value->rank, &padding));
        encoding_byte_shape(value->encoding, shape, value->rank);
        TAPML_TRY(shape_count(shape, value->rank, &count));
        padding -= (uint64_t)count;
    }
    if (__builtin_mul_overflow((uint64_t)count, dtype_bytes(value->dtype), &bytes) ||
        bytes > UINT64_MAX / 2) {
        return status_fail(TAPML_INVALID, "state '%s' is too large: %lld elements", value->name,
                           (long long)count);
    }
    const uint64_t rows = value->rank > 0 && shape[0] > 0 ? (uint64_t)shape[0] : 1;
    *state = (struct state){
        .name = value->name,
        .rows = rows,
        .row_bytes = bytes / rows,
        .dtype = value->dtype,
        .mark = mark,
        .initial = value->initial,
    };
    space_block_init(&state->block, activation_bytes(bytes + padding, mark));
    return TAPML_OK;
}

void state_release(struct state *state, struct space_set *spaces)
{
    space_block_release(&state->block, spaces);
}

void state_begin(struct state *state)
{
    state->owner = SPACE_NO_PLACE;
    memset(state->is_filled, 0, sizeof(state->is_filled));
    memset(state->changed, 0, sizeof(state->changed));
}

// The initial value as a type, repeated over eight bytes.
static void make_pattern(const struct state *state,
                         uint32_t dtype,
                         unsigned char out_pattern[ELEMENT_BYTES_MAX])
{
    const size_t element_bytes = dtype_bytes(dtype);
    ASSERT(element_bytes > 0 && element_bytes <= ELEMENT_BYTES_MAX);
    for (size_t at = 0; at < ELEMENT_BYTES_MAX; at += element_bytes) {
        convert_from_f64(dtype, &state->initial, 1, out_pattern + at);
    }
}

static tapml_status
fill_memory(struct state *state, struct space_set *spaces, const unsigned char *pattern)
{
    void *memory = NULL;
    TAPML_TRY(space_claim(spaces, &state->block));
    TAPML_TRY(space_memory(spaces, &state->block, &memory));
    for (uint64_t at = 0; at < state->block.bytes.at[ACTIVATION_F32]; at += ELEMENT_BYTES_MAX) {
        memcpy((unsigned char *)memory + at, pattern, ELEMENT_BYTES_MAX);
    }
    state->is_filled[SPACE_HOST] = 1;
    return TAPML_OK;
}

// Fills the space of `place` where that is yet to be done in this sequence.
static tapml_status fill(struct state *state, struct space_set *spaces, uint32_t place)
{
    const uint32_t space = place == SPACE_NO_PLACE ? SPACE_HOST : spaces->places[place].space;
    unsigned char pattern[ELEMENT_BYTES_MAX];
    uint32_t words[2];
    if (state->is_filled[space]) {
        return TAPML_OK;
    }
    const enum activation activation =
        space == SPACE_HOST ? ACTIVATION_F32 : spaces->places[place].activation;
    const int is_cast = (state->mark & activation_bit(activation)) != 0;
    make_pattern(state, is_cast ? activation_type(activation)->dtype : state->dtype, pattern);
    memcpy(words, pattern, sizeof(words));
    if (space == SPACE_HOST) {
        return fill_memory(state, spaces, pattern);
    }
    if (words[0] == words[1]) {
        tapml_object *buffer = NULL;
        TAPML_TRY(space_buffer(spaces, &state->block, place, &buffer));
        TAPML_TRY(space_explain(spaces, place,
                                backend_fill(spaces->places[place].backend, buffer, 0,
                                             space_bytes(spaces, &state->block, place), words[0])));
        space_note_call(spaces, place);
    } else {
        // Eight bytes that differ are more than a fill repeats.
        if (!state->is_filled[SPACE_HOST]) {
            TAPML_TRY(fill_memory(state, spaces, pattern));
        }
        TAPML_TRY(
            space_upload(spaces, &state->block, place, 0, state->block.bytes.at[ACTIVATION_F32]));
    }
    state->is_filled[space] = 1;
    return TAPML_OK;
}

// Brings the rows that host memory lacks.
static tapml_status update_memory(struct state *state, struct space_set *spaces)
{
    struct state_rows *lacking = &state->changed[SPACE_HOST];
    TAPML_TRY(fill(state, spaces, SPACE_NO_PLACE));
    if (lacking->begin < lacking->end) {
        TAPML_TRY(cast_download(spaces, &state->block, state->owner, state->mark,
                                lacking->begin * state->row_bytes,
                                lacking->end * state->row_bytes));
        *lacking = (struct state_rows){0, 0};
    }
    return TAPML_OK;
}

tapml_status state_buffer(struct state *state,
                          struct space_set *spaces,
                          uint32_t place,
                          tapml_object **out_buffer)
{
    const uint32_t space = spaces->places[place].space;
    struct state_rows *lacking = &state->changed[space];
    if (space == SPACE_HOST) {
        TAPML_TRY(update_memory(state, spaces));
        return space_buffer(spaces, &state->block, place, out_buffer);
    }
    TAPML_TRY(fill(state, spaces, place));
    if (lacking->begin < lacking->end) {
        TAPML_TRY(update_memory(state, spaces));
        TAPML_TRY(cast_upload(spaces, &state->block, place, state->mark,
                              lacking->begin * state->row_bytes, lacking->end * state->row_bytes));
        *lacking = (struct state_rows){0, 0};
    }
    return space_buffer(spaces, &state->block, place, out_buffer);
}

// The smallest range that holds both; one may be empty.
static struct state_rows join(struct state_rows a, uint64_t begin, uint64_t end)
{
    if (a.begin >= a.end) {
        return (struct state_rows){begin, end};
    }
    return (struct state_rows){a.begin < begin ? a.begin : begin, a.end > end ? a.end : end};
}

void state_note_write(struct state *state,
                      const struct space_set *spaces,
                      uint32_t place,
                      uint64_t begin,
                      uint64_t end)
{
    const uint32_t own = spaces->places[place].space;
    ASSERT(end <= state->rows);
    if (begin >= end) {
        return;
    }
    state->owner = place;
    for (uint32_t space = 0; space < SPACE_COUNT_MAX; space++) {
        if (space != own) {
            state->changed[space] = join(state->changed[space], begin, end);
        }
    }
}

tapml_status state_memory(struct state *state, struct space_set *spaces, const void **out_memory)
{
    TAPML_TRY(update_memory(state, spaces));
    *out_memory = state->block.memory;
    return TAPML_OK;
}
