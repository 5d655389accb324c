// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "tensor/tiles.h"

#include "base/assert.h"
#include "tensor/shape.h"

#include <tapml/codec/codec.h>

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { WIDEN_VALUES = 256 };

// A tensor as matrices.
struct tiles_stack {
    uint64_t matrices, rows, columns;
};

static struct tiles_stack stack_of(const int64_t *shape, uint32_t rank)
{
    struct tiles_stack stack = {1, 1, 1};
    for (uint32_t i = 0; i + 2 < rank; i++) {
        stack.matrices *= (uint64_t)shape[i];
    }
    stack.rows = rank > 1 ? (uint64_t)shape[rank - 2] : 1;
    stack.columns = rank > 0 ? (uint64_t)shape[rank - 1] : 1;
    return stack;
}

static const struct codec_tiles *codec_of(const tapml_encoding *encoding)
{
    const struct codec_tiles *codec = codec_tiles_find(encoding->id);
    ASSERT(codec != NULL && codec->encoding == encoding);
    return codec;
}

int tiles_are_in(const tapml_encoding *encoding)
{
    return encoding != NULL && encoding->spans[0]->tile_rows != 0;
}

uint64_t tiles_span_bytes(const tapml_encoding *encoding,
                          const int64_t *shape,
                          uint32_t rank,
                          uint32_t index)
{
    const struct tiles_stack stack = stack_of(shape, rank);
    return stack.matrices * codec_tiles_bytes(encoding->spans[index], stack.rows, stack.columns);
}

uint64_t tiles_span_begin(const tapml_encoding *encoding,
                          const int64_t *shape,
                          uint32_t rank,
                          uint32_t index)
{
    uint64_t begin = 0;
    for (uint32_t i = 0; i < index; i++) {
        const uint64_t align = i + 1 < encoding->n_spans ? encoding->spans[i + 1]->align : 1;
        begin += tiles_span_bytes(encoding, shape, rank, i);
        begin = (begin + align - 1) / align * align;
    }
    return begin;
}

// A value takes at most the bytes of a number in each span.
tapml_status tiles_bytes(const tapml_encoding *encoding,
                         const int64_t *shape,
                         uint32_t rank,
                         uint64_t *out_bytes)
{
    const int64_t most = INT64_MAX / ((int64_t)sizeof(float) * (CODEC_TILES_SPANS_MAX + 1));
    const uint64_t align = encoding->spans[0]->align;
    int64_t count = 0;
    TAPML_TRY(shape_count(shape, rank, &count));
    if (count > most || rank == 0) {
        return status_fail(TAPML_INVALID, "encoding '%s' has rows of values, found %lld values",
                           encoding->id, (long long)count);
    }
    *out_bytes =
        (tiles_span_begin(encoding, shape, rank, encoding->n_spans) + align - 1) / align * align;
    return TAPML_OK;
}

struct tiles_spans tiles_spans_of(const tapml_encoding *encoding,
                                  const void *data,
                                  const int64_t *shape,
                                  uint32_t rank)
{
    struct tiles_spans spans = {{NULL}};
    for (uint32_t i = 0; i < encoding->n_spans; i++) {
        spans.at[i] = (const unsigned char *)data + tiles_span_begin(encoding, shape, rank, i);
    }
    return spans;
}

void tiles_gather(const tapml_encoding *encoding,
                  const struct tiles_spans *spans,
                  const int64_t *shape,
                  uint32_t rank,
                  void *out_target)
{
    const uint64_t align = encoding->spans[0]->align;
    const uint64_t end = tiles_span_begin(encoding, shape, rank, encoding->n_spans);
    unsigned char *target = out_target;
    uint64_t filled = 0;
    for (uint32_t i = 0; i < encoding->n_spans; i++) {
        const uint64_t begin = tiles_span_begin(encoding, shape, rank, i);
        const uint64_t bytes = tiles_span_bytes(encoding, shape, rank, i);
        memset(target + filled, 0, begin - filled);
        memcpy(target + begin, spans->at[i], bytes);
        filled = begin + bytes;
    }
    memset(target + filled, 0, (end + align - 1) / align * align - filled);
}

// All extents are powers of two.
uint64_t tiles_rows(const tapml_encoding *encoding)
{
    uint64_t rows = 1;
    for (uint32_t i = 0; i < encoding->n_spans; i++) {
        const uint32_t own = encoding->spans[i]->tile_rows;
        rows = own != TAPML_TILE_ALL && own > rows ? own : rows;
    }
    return rows;
}

int tiles_slice(const tapml_encoding *encoding,
                const void *source,
                const int64_t *shape,
                uint64_t first,
                uint64_t count,
                void *out_target)
{
    const int64_t some[] = {(int64_t)count, shape[1]};
    struct tiles_spans spans = tiles_spans_of(encoding, source, shape, 2);
    for (uint32_t i = 0; i < encoding->n_spans; i++) {
        const tapml_span *span = encoding->spans[i];
        const int is_whole = span->tile_rows == TAPML_TILE_ALL;
        if (!is_whole && first % span->tile_rows != 0) {
            return 0;
        }
        const uint64_t skipped = is_whole ? 0 : first;
        spans.at[i] = (const unsigned char *)spans.at[i] +
                      codec_tiles_bytes(span, skipped, (uint64_t)shape[1]);
    }
    tiles_gather(encoding, &spans, some, 2, out_target);
    return 1;
}

// -- Values ------------------------------------------------------------------------------------

uint32_t tiles_dtype(const tapml_encoding *encoding)
{
    return codec_tiles_dtype(codec_of(encoding));
}

// Where a matrix of a tensor has its spans.
static struct codec_matrix matrix_at(const tapml_encoding *encoding,
                                     const struct tiles_stack *stack,
                                     const void *const *spans,
                                     uint64_t index)
{
    struct codec_matrix matrix = {stack->rows, stack->columns, {NULL}};
    for (uint32_t i = 0; i < encoding->n_spans; i++) {
        matrix.spans[i] =
            (const unsigned char *)spans[i] +
            index * codec_tiles_bytes(encoding->spans[i], stack->rows, stack->columns);
    }
    return matrix;
}

static void put(uint32_t dtype, const float *values, uint64_t count, void *target)
{
    uint16_t *halves = target;
    if (dtype == TAPML_F32) {
        memcpy(target, values, count * sizeof(*values));
        return;
    }
    for (uint64_t i = 0; i < count; i++) {
        uint32_t bits = 0;
        memcpy(&bits, &values[i], sizeof(bits));
        halves[i] = (uint16_t)(bits >> 16);
    }
}

static void widen_row(const struct codec_tiles *codec,
                      const struct codec_matrix *matrix,
                      uint64_t row,
                      uint32_t dtype,
                      unsigned char *target)
{
    float values[WIDEN_VALUES];
    for (uint64_t first = 0; first < matrix->columns; first += WIDEN_VALUES) {
        const uint64_t rest = matrix->columns - first;
        const uint64_t count = rest < WIDEN_VALUES ? rest : WIDEN_VALUES;
        codec_tiles_read(codec, matrix, row, first, count, values);
        put(dtype, values, count, target + first * TAPML_DT_BYTES(dtype));
    }
}

void tiles_widen(const tapml_encoding *encoding,
                 const struct tiles_spans *spans,
                 const int64_t *shape,
                 uint32_t rank,
                 uint32_t dtype,
                 void *out_values)
{
    const struct codec_tiles *codec = codec_of(encoding);
    const struct tiles_stack stack = stack_of(shape, rank);
    unsigned char *target = out_values;
    ASSERT(dtype == TAPML_F32 || dtype == codec_tiles_dtype(codec));
    for (uint64_t i = 0; i < stack.matrices; i++) {
        const struct codec_matrix matrix = matrix_at(encoding, &stack, spans->at, i);
        for (uint64_t row = 0; row < stack.rows; row++) {
            widen_row(codec, &matrix, row, dtype, target);
            target += stack.columns * TAPML_DT_BYTES(dtype);
        }
    }
}

tapml_status tiles_encode(const tapml_encoding *encoding,
                          const float *values,
                          const int64_t *shape,
                          uint32_t rank,
                          void *out_target)
{
    const struct tiles_stack stack = stack_of(shape, rank);
    const struct tiles_spans spans = tiles_spans_of(encoding, out_target, shape, rank);
    const uint64_t count = stack.matrices * stack.rows * stack.columns;
    uint64_t bytes = 0;
    TAPML_TRY(tiles_bytes(encoding, shape, rank, &bytes));
    for (uint64_t i = 0; i < count; i++) {
        if (!(fabsf(values[i]) < (float)CODEC_VALUE_LIMIT)) {
            return status_fail(TAPML_INVALID,
                               "value %" PRIu64
                               " is not below %.0f, which encoding '%s' cannot hold",
                               i, CODEC_VALUE_LIMIT, encoding->id);
        }
    }
    memset(out_target, 0, bytes);
    for (uint64_t i = 0; i < stack.matrices; i++) {
        const struct codec_matrix matrix = matrix_at(encoding, &stack, spans.at, i);
        unsigned char *written[CODEC_TILES_SPANS_MAX];
        for (uint32_t k = 0; k < encoding->n_spans; k++) {
            written[k] = (unsigned char *)(uintptr_t)matrix.spans[k]; // Of `out_target`.
        }
        codec_tiles_write(codec_of(encoding), stack.rows, stack.columns,
                          values + i * stack.rows * stack.columns, written);
    }
    return TAPML_OK;
}
