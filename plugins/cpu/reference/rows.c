// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "reference/arithmetic.h"
#include "reference/operators.h"
#include "reference/reference.h"
#include "reference/value.h"
#include "reference/work.h"

#include <tapml/ops.h>

#include <inttypes.h>
#include <string.h>

// Rows of a table by number.
enum { GATHER_CHUNK = 256 };

struct gather {
    const tapml_tensor *table, *numbers, *y;
    int64_t offset;
    size_t width;
};

static void gather_row(const struct gather *gather, size_t number, struct value_row y)
{
    float values[GATHER_CHUNK];

    if (!y.is_half) {
        value_panel_get(gather->table, number, 0, gather->width, y.data);
        return;
    }
    for (size_t first = 0; first < gather->width; first += GATHER_CHUNK) {
        const size_t rest = gather->width - first;
        const size_t count = rest < GATHER_CHUNK ? rest : GATHER_CHUNK;

        value_panel_get(gather->table, number, first, count, values);
        for (size_t i = 0; i < count; i++) {
            value_write(y, (ptrdiff_t)(first + i), values[i]);
        }
    }
}

static void gather_compute(void *job, uint64_t begin, uint64_t end)
{
    const struct gather *gather = job;
    const int32_t *numbers = value_row(gather->numbers, 0);

    for (uint64_t r = begin; r < end; r++) {
        gather_row(gather, (size_t)(numbers[r] + gather->offset), value_of(gather->y, (size_t)r));
    }
}

// Numbers are values of a graph, which no schema bounds: they are checked before anything is read.
static tapml_status gather_run(tapml_object *queue, tapml_call *call, struct gather *gather)
{
    const size_t rows = value_panel_row_count(gather->table), count = value_width(gather->numbers);
    const int32_t *numbers = value_row(gather->numbers, 0);

    if (gather->offset < 0 || (uint64_t)gather->offset > rows) {
        return memory_fail(memory_object_of(queue), call, TAPML_INVALID,
                           "the offset is '%" PRId64 "', the table has %zu rows", gather->offset,
                           rows);
    }
    for (size_t i = 0; i < count; i++) {
        const int64_t row = numbers[i] + gather->offset;

        if (row < 0 || (uint64_t)row >= rows) {
            return memory_fail(memory_object_of(queue), call, TAPML_INVALID,
                               "number %zu of %zu asks for row '%" PRId64
                               "', the table has %zu rows",
                               i, count, row, rows);
        }
    }
    gather->width = value_width(gather->y);

    const struct work work = {
        .count = count,
        .unit_cost = gather->width,
        .body = gather_compute,
        .job = gather,
    };

    return work_run(queue, call, &work, gather->y);
}

static tapml_status embed(TAPML_EMBED_PARAMS)
{
    return gather_run(queue, call,
                      &(struct gather){.table = table, .numbers = ids, .y = y, .offset = offset});
}

static tapml_status gather_rows(TAPML_GATHER_ROWS_PARAMS)
{
    return gather_run(queue, call, &(struct gather){.table = x, .numbers = rows, .y = y});
}

// Values of any type into a tensor whose rows are contiguous.
struct copy {
    const tapml_tensor *x, *y;
    ptrdiff_t value_bytes, step_bytes, width;
    unsigned char *blocks; // Of a state that is encoded: where the first row begins.
};

static void copy_compute(void *job, uint64_t begin, uint64_t end)
{
    const struct copy *copy = job;

    for (uint64_t r = begin; r < end; r++) {
        const unsigned char *x = value_row(copy->x, (size_t)r);
        unsigned char *y = value_row(copy->y, (size_t)r);

        if (copy->step_bytes == copy->value_bytes) {
            memcpy(y, x, (size_t)(copy->width * copy->value_bytes));
            continue;
        }
        for (ptrdiff_t i = 0; i < copy->width; i++) {
            memcpy(y + i * copy->value_bytes, x + i * copy->step_bytes, (size_t)copy->value_bytes);
        }
    }
}

static tapml_status copy_run(tapml_object *queue, tapml_call *call, struct copy *copy)
{
    copy->value_bytes = (ptrdiff_t)TAPML_DT_BYTES(copy->y->dtype);
    copy->step_bytes = value_stride(copy->x, copy->x->rank - 1) * copy->value_bytes;
    copy->width = (ptrdiff_t)value_width(copy->y);

    const struct work work = {
        .count = value_row_count(copy->y),
        .unit_cost = (uint64_t)copy->width,
        .body = copy_compute,
        .job = copy,
    };

    return work_run(queue, call, &work, copy->y);
}

static tapml_status copy(TAPML_COPY_PARAMS)
{
    return copy_run(queue, call, &(struct copy){.x = x, .y = y});
}

// A copy of each operand into its part of y.
static tapml_status concat(TAPML_CONCAT_PARAMS)
{
    int64_t stride[TAPML_MAX_RANK];
    tapml_tensor left = *y, right = *y;

    for (uint32_t axis = 0; axis < y->rank; axis++) {
        stride[axis] = value_stride(y, axis);
    }
    left.shape = a->shape;
    left.stride = stride;
    right.shape = b->shape;
    right.stride = stride;
    right.offset += value_width(a) * TAPML_DT_BYTES(y->dtype);

    const tapml_status status = copy_run(queue, call, &(struct copy){.x = a, .y = &left});

    return status == TAPML_OK ? copy_run(queue, call, &(struct copy){.x = b, .y = &right}) : status;
}

// Rows of activations into those of a state of another type.
static void convert_compute(void *job, uint64_t begin, uint64_t end)
{
    const struct copy *copy = job;

    for (uint64_t r = begin; r < end; r++) {
        const struct value_row x = value_of(copy->x, (size_t)r), y = value_of(copy->y, (size_t)r);

        for (ptrdiff_t i = 0; i < copy->width; i++) {
            value_write(y, i, value_read(x, i));
        }
    }
}

static tapml_status convert_run(tapml_object *queue, tapml_call *call, struct copy *copy)
{
    copy->width = (ptrdiff_t)value_width(copy->y);

    const struct work work = {
        .count = value_row_count(copy->y),
        .unit_cost = (uint64_t)copy->width,
        .body = convert_compute,
        .job = copy,
    };

    return work_run(queue, call, &work, copy->y);
}

// Rows of activations into blocks.
static void encode_compute(void *job, uint64_t begin, uint64_t end)
{
    const struct copy *copy = job;
    const tapml_encoding *encoding = copy->y->encoding;
    const ptrdiff_t block_values = (ptrdiff_t)encoding->block_values;
    const size_t block_bytes = encoding->spans[0]->block_bytes;
    const size_t row_bytes = (size_t)(copy->width / block_values) * block_bytes;

    for (uint64_t r = begin; r < end; r++) {
        const struct value_row x = value_of(copy->x, (size_t)r);
        unsigned char *block = copy->blocks + (size_t)r * row_bytes;

        for (ptrdiff_t i = 0; i < copy->width; i += block_values) {
            value_encode(x, i, encoding->id, block);
            block += block_bytes;
        }
    }
}

static tapml_status
encode_run(tapml_object *queue, tapml_call *call, struct copy *copy, int64_t position)
{
    const tapml_tensor *state = copy->y;
    const size_t width = value_width(state);
    const size_t first = (size_t)(position * state->shape[1]) * width;

    copy->width = (ptrdiff_t)width;
    copy->blocks = (unsigned char *)memory_at(state) +
                   first / state->encoding->block_values * state->encoding->spans[0]->block_bytes;

    const struct work work = {
        .count = value_row_count(copy->x),
        .unit_cost = (uint64_t)width,
        .body = encode_compute,
        .job = copy,
    };

    return work_run(queue, call, &work, state);
}

// Into the rows of the state from `position` on: a copy where they have its type.
static tapml_status state_append(TAPML_STATE_APPEND_PARAMS)
{
    const int64_t stride[] = {value_stride(state, 0), value_stride(state, 1),
                              value_stride(state, 2)};
    tapml_tensor target = *state;

    target.shape = rows->shape;
    target.stride = stride;
    target.offset += (uint64_t)(position * stride[0]) * TAPML_DT_BYTES(state->dtype);

    struct copy job = {.x = rows, .y = &target};

    if (state->encoding != NULL) {
        job.y = state;
        return encode_run(queue, call, &job, position);
    }
    return rows->dtype == state->dtype ? copy_run(queue, call, &job)
                                       : convert_run(queue, call, &job);
}

const tapml_op_impl PRECISE(reference_concat) = TAPML_IMPL(tapml_concat, concat);
const tapml_op_impl PRECISE(reference_copy) = TAPML_IMPL(tapml_copy, copy);
const tapml_op_impl PRECISE(reference_embed) = TAPML_IMPL(tapml_embed, embed);
const tapml_op_impl PRECISE(reference_gather_rows) = TAPML_IMPL(tapml_gather_rows, gather_rows);
const tapml_op_impl PRECISE(reference_state_append) = TAPML_IMPL(tapml_state_append, state_append);
