// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fast/vector.h"

#include <tapml/codec/tiles.h>

#include <stddef.h>

// Weights in blocks or tiles (docs/encodings.md): rows of them widened, and their products with a
// row of x.
#define BLOCKS_LIST(X)                                                                             \
    X(GGUF_Q4_0, "gguf.q4_0/1")                                                                    \
    X(GGUF_Q4_1, "gguf.q4_1/1")                                                                    \
    X(GGUF_Q4_K, "gguf.q4_k/1")                                                                    \
    X(GGUF_Q5_0, "gguf.q5_0/1")                                                                    \
    X(GGUF_Q5_1, "gguf.q5_1/1")                                                                    \
    X(GGUF_Q5_K, "gguf.q5_k/1")                                                                    \
    X(GGUF_Q6_K, "gguf.q6_k/1")                                                                    \
    X(GGUF_Q8_0, "gguf.q8_0/1")                                                                    \
    X(Q4, TAPML_ENCODING_Q4)                                                                       \
    X(Q4_K, TAPML_ENCODING_Q4_K)                                                                   \
    X(Q5, TAPML_ENCODING_Q5)                                                                       \
    X(Q5_K, TAPML_ENCODING_Q5_K)                                                                   \
    X(Q6_K, TAPML_ENCODING_Q6_K)                                                                   \
    X(Q8, TAPML_ENCODING_Q8)

#define BLOCKS_KIND(name, id) BLOCKS_##name,
enum blocks_kind { BLOCKS_LIST(BLOCKS_KIND) BLOCKS_TILES };
#undef BLOCKS_KIND

enum { BLOCKS_SPANS_MAX = 4 };

// Dense rows, whose blocks follow each other in each span.
struct blocks {
    enum blocks_kind kind;
    const unsigned char *spans[BLOCKS_SPANS_MAX]; // Of the first row.
    size_t width;                                 // Values of a row: whole blocks.

    const struct codec_tiles *tiles; // Where there are tiles instead (fast/tiles.h).
    struct codec_matrix matrix;
    size_t first_row; // Of the matrix.
};

// Finds the blocks of `tensor`, one of rows of an encoding that `value_is_known`, from row `row`
// on.
struct blocks LEVEL(blocks_find)(const tapml_tensor *tensor, size_t row);

// Widens values `begin` .. `begin + count` of row `row` to `values`, which is exact. Both are
// multiples of 512, but for `count` at the end of the row. The same values four rows on are
// fetched.
void LEVEL(blocks_widen)(
    const struct blocks *blocks, size_t row, size_t begin, size_t count, float *values);

// y[n] = sum over k of x[k] * row n of the blocks, for `row_count` rows from the first on.
void
    LEVEL(blocks_multiply)(const struct blocks *blocks, const float *x, size_t row_count, float *y);
