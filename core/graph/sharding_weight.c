// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/sharding_weight.h"

#include "base/arena.h"
#include "graph/view.h"
#include "model/checkpoint.h"
#include "tensor/dtype.h"
#include "tensor/encoding.h"
#include "tensor/tiles.h"

#include <string.h>

enum { COPY_ALIGN = 64 };

// The part as lines of blocks: `count` of each line of `whole`, from `first` on. A plain value is a
// block of one.
struct cut_lines {
    uint64_t lines, whole, first, count;
    uint64_t block_bytes; // Of plain values.
};

static int64_t product(const struct graph_value *value, uint32_t begin, uint32_t end)
{
    int64_t product = 1;
    for (uint32_t i = begin; i < end; i++) {
        product *= value->shape[i].constant;
    }
    return product;
}

static struct cut_lines
cut_of(const struct graph_value *value, uint32_t axis, int64_t begin, int64_t end)
{
    const int64_t block = value->encoding ? value->encoding->block_values : 1;
    const int64_t inner = product(value, axis + 1, value->rank);
    return (struct cut_lines){
        .lines = (uint64_t)product(value, 0, axis),
        .whole = (uint64_t)(inner * value->shape[axis].constant / block),
        .first = (uint64_t)(inner * begin / block),
        .count = (uint64_t)(inner * (end - begin) / block),
        .block_bytes = dtype_bytes(value->dtype),
    };
}

static void *new_memory(struct sharding_weight_memory *memory, uint64_t bytes)
{
    memory->copied_bytes += bytes;
    return memory->checkpoint ? checkpoint_copy(memory->checkpoint, bytes, COPY_ALIGN)
                              : arena_new(memory->arena, bytes);
}

static void copy_lines(const struct cut_lines *cut,
                       const unsigned char *from,
                       unsigned char *to,
                       uint64_t block_bytes)
{
    for (uint64_t line = 0; line < cut->lines; line++) {
        memcpy(to + line * cut->count * block_bytes,
               from + (line * cut->whole + cut->first) * block_bytes, cut->count * block_bytes);
    }
}

static void copy_blocks(const tapml_encoding *encoding,
                        const struct cut_lines *cut,
                        const unsigned char *from,
                        unsigned char *to)
{
    for (uint32_t i = 0; i < encoding->n_spans; i++) {
        copy_lines(cut, from + encoding_span_begin(encoding, cut->lines * cut->whole, i),
                   to + encoding_span_begin(encoding, cut->lines * cut->count, i),
                   encoding->spans[i]->block_bytes);
    }
}

static tapml_status bytes_of(const struct graph_value *value, uint64_t *out_bytes)
{
    int64_t shape[TAPML_MAX_RANK];
    for (uint32_t i = 0; i < value->rank; i++) {
        shape[i] = value->shape[i].constant;
    }
    return encoding_bytes(value->encoding, value->dtype, shape, value->rank, out_bytes);
}

// Rows of tiles, which lie one behind the other with the spans of all of them.
static tapml_status
cut_tiles(const struct graph_value *whole, uint32_t axis, int64_t begin, int64_t end, void *target)
{
    const int64_t shape[] = {whole->shape[0].constant, whole->shape[1].constant};
    if (axis == 0 && whole->rank == 2 && !whole->spans &&
        tiles_slice(whole->encoding, whole->data, shape, (uint64_t)begin, (uint64_t)(end - begin),
                    target)) {
        return TAPML_OK;
    }
    return status_fail(TAPML_UNIMPLEMENTED,
                       "weight '%s' lies in tiles (%s), and is not split between rows of these",
                       whole->name, whole->encoding->id);
}

static tapml_status
copy_part(const struct graph_value *whole, uint32_t axis, int64_t begin, int64_t end, void *target)
{
    const struct cut_lines cut = cut_of(whole, axis, begin, end);
    if (tiles_are_in(whole->encoding)) {
        return cut_tiles(whole, axis, begin, end, target);
    }
    if (whole->encoding) {
        copy_blocks(whole->encoding, &cut, whole->data, target);
    } else {
        copy_lines(&cut, whole->data, target, cut.block_bytes);
    }
    return TAPML_OK;
}

// Where the part lies in the memory of the whole; NULL where it does not lie together there.
static const void *
find_in_place(const struct graph_value *whole, uint32_t axis, int64_t begin, int64_t end)
{
    const struct cut_lines cut = cut_of(whole, axis, begin, end);
    const int is_together = cut.lines == 1 && (!whole->encoding || whole->encoding->n_spans == 1) &&
                            !tiles_are_in(whole->encoding);
    const uint64_t bytes =
        cut.first * (whole->encoding ? whole->encoding->spans[0]->block_bytes : cut.block_bytes);
    if (!is_together || (whole->encoding && bytes % encoding_align(whole->encoding) != 0)) {
        return NULL;
    }
    return (const unsigned char *)whole->data + bytes;
}

tapml_status sharding_weight_part(struct graph_value *io_value,
                                  uint32_t axis,
                                  int64_t begin,
                                  int64_t end,
                                  struct sharding_weight_memory *memory)
{
    const struct graph_value whole = *io_value;
    struct view view = {.rank = whole.rank};
    memcpy(view.shape, whole.shape, sizeof(view.shape));
    view.shape[axis] = affine_constant(end - begin);
    TAPML_TRY(view_dense(&view));
    memcpy(io_value->shape, view.shape, sizeof(view.shape));
    memcpy(io_value->stride, view.stride, sizeof(view.stride));
    TAPML_TRY(bytes_of(io_value, &io_value->data_bytes));
    if (!whole.data) {
        return TAPML_OK;
    }
    io_value->data = find_in_place(&whole, axis, begin, end);
    if (io_value->data) {
        return TAPML_OK;
    }
    void *target = new_memory(memory, io_value->data_bytes);
    if (!target) {
        return status_no_memory();
    }
    io_value->data = target;
    return copy_part(&whole, axis, begin, end, target);
}
