// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Tensors in tiles: weights of quantised checkpoints as their files have them. docs/encodings.md
// defines the bits, tapml/codec/tiles.h reads them.
//
// The spans of such a tensor lie anywhere in host memory, or one after another at a multiple of
// their alignment, which is how a case holds them. The last two axes are rows and columns; a tensor
// of one axis has one row. Shapes were checked by tiles_bytes. Pure: any thread. [any]
#pragma once

#include "base/status.h"

#include <tapml/codec/tiles.h>

// Where the spans of a tensor lie.
struct tiles_spans {
    const void *at[CODEC_TILES_SPANS_MAX];
};

// Whether an encoding is one of tiles; NULL is none.
int tiles_are_in(const tapml_encoding *encoding);

// Returns the bytes of span `index`, and where it begins if spans lie one after another. An index
// behind the last one has the end of all.
uint64_t tiles_span_bytes(const tapml_encoding *encoding,
                          const int64_t *shape,
                          uint32_t rank,
                          uint32_t index);
uint64_t tiles_span_begin(const tapml_encoding *encoding,
                          const int64_t *shape,
                          uint32_t rank,
                          uint32_t index);

// Counts the bytes of spans one after another: a multiple of their alignment. TAPML_INVALID if
// there are no rows, or the size does not fit into 63 bits.
tapml_status tiles_bytes(const tapml_encoding *encoding,
                         const int64_t *shape,
                         uint32_t rank,
                         uint64_t *out_bytes) STATUS_USED;

// Returns the spans that lie one after another at `data`.
struct tiles_spans tiles_spans_of(const tapml_encoding *encoding,
                                  const void *data,
                                  const int64_t *shape,
                                  uint32_t rank);

// Puts spans one after another, with zeros between them, to `out_target`, which has room for
// tiles_bytes.
void tiles_gather(const tapml_encoding *encoding,
                  const struct tiles_spans *spans,
                  const int64_t *shape,
                  uint32_t rank,
                  void *out_target);

// Returns the rows of which a multiple begins no tile of a matrix in its middle; 1 where tiles are
// of one row, or of all.
uint64_t tiles_rows(const tapml_encoding *encoding);

// Copies rows `first` .. `first + count` of a matrix whose spans lie one after another at `source`
// into one of these rows. Returns 0, and copies nothing, where they begin within a tile.
int tiles_slice(const tapml_encoding *encoding,
                const void *source,
                const int64_t *shape,
                uint64_t first,
                uint64_t count,
                void *out_target);

// Returns the plain dtype that all values have a form in: TAPML_BF16 or TAPML_F32.
uint32_t tiles_dtype(const tapml_encoding *encoding);

// Writes all values, dense, as `dtype`: TAPML_F32, or TAPML_BF16 if that is tiles_dtype.
void tiles_widen(const tapml_encoding *encoding,
                 const struct tiles_spans *spans,
                 const int64_t *shape,
                 uint32_t rank,
                 uint32_t dtype,
                 void *out_values);

// Writes the tiles of plain values of f32, spans one after another. TAPML_INVALID names the first
// value that is not below CODEC_VALUE_LIMIT.
tapml_status tiles_encode(const tapml_encoding *encoding,
                          const float *values,
                          const int64_t *shape,
                          uint32_t rank,
                          void *out_target) STATUS_USED;
