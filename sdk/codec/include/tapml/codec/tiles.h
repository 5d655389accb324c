// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Encodings of quantised checkpoints: quants row by row, as many as the matrix has values, and a
// scale for each tile of it. docs/encodings.md defines the bits; an encoding is one combination of
// numbers and of a tile, and all of them share the code here.
//
// value = scale * (quant - zero point), each operation rounded once to f32. A factor of the matrix
// is multiplied with the scale first, or divides it.
//
// Everything is constant and pure: any thread may call any function at any time.
#ifndef TAPML_CODEC_TILES_H
#define TAPML_CODEC_TILES_H

#include <tapml/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { CODEC_TILES_SPANS_MAX = 4 };

// What a stored number is.
enum codec_number {
    CODEC_E4M3, // A float of 8 bits with NaN and without infinity,
    CODEC_E5M2, // and with both;
    CODEC_E2M1, // of 4 bits, two a byte.
    CODEC_I8,   // A whole number with a sign.
    CODEC_U8,   // One without, four a word of 32 bits from its low bits on,
    CODEC_U4,   // or eight.
    CODEC_F32,
    CODEC_BF16,
    CODEC_F16,
    CODEC_E8M0 // A power of two: its exponent and 127. 255 is NaN.
};

// What is subtracted from quants.
enum codec_zeros {
    CODEC_ZEROS_NONE,
    CODEC_ZEROS_MIDDLE, // Half of the range of quants.
    CODEC_ZEROS_I8,     // A number for each scale;
    CODEC_ZEROS_WORDS,  // such as the quants, in words with those of neighbouring rows;
    CODEC_ZEROS_LESS    // the same less by one.
};

enum codec_factor { CODEC_FACTOR_NONE, CODEC_FACTOR_TIMES, CODEC_FACTOR_DIVIDES };

// One encoding. Its spans are the quants, the scales, the zero points and the factor, as far as
// there are any.
struct codec_tiles {
    const tapml_encoding *encoding;
    enum codec_number quants, scales;
    enum codec_zeros zeros;
    enum codec_factor factor;
};

// One matrix: its extents, and where its spans begin.
struct codec_matrix {
    uint64_t rows, columns;
    const unsigned char *spans[CODEC_TILES_SPANS_MAX];
};

// Returns the encoding of an id, or NULL; that with an index, or NULL behind the last.
const struct codec_tiles *codec_tiles_find(const char *id);
const struct codec_tiles *codec_tiles_at(uint32_t index);

// Returns the bytes of a span for one matrix.
uint64_t codec_tiles_bytes(const tapml_span *span, uint64_t rows, uint64_t columns);

// Returns the values of a row that have one scale, at most all of them.
uint64_t codec_tiles_width(const struct codec_tiles *tiles, const struct codec_matrix *matrix);

// The scale of a tile, changed by the factor, and its zero point.
struct codec_scale {
    float scale, zero;
};

// Reads those of tiles `first` .. `first + count` that row `row` goes through.
void codec_tiles_scales(const struct codec_tiles *tiles,
                        const struct codec_matrix *matrix,
                        uint64_t row,
                        uint64_t first,
                        uint64_t count,
                        struct codec_scale *out_scales);

// Returns where the quants of row `row` begin.
const unsigned char *
codec_tiles_row(const struct codec_tiles *tiles, const struct codec_matrix *matrix, uint64_t row);

// Reads values `first` .. `first + count` of row `row`, which are in the matrix.
void codec_tiles_read(const struct codec_tiles *tiles,
                      const struct codec_matrix *matrix,
                      uint64_t row,
                      uint64_t first,
                      uint64_t count,
                      float *out_values);

// Returns the dtype as which every value is exact: TAPML_BF16 where scales are powers of two from
// `codec_tiles_least_power` on, else TAPML_F32.
uint32_t codec_tiles_dtype(const struct codec_tiles *tiles);
uint32_t codec_tiles_least_power(const struct codec_tiles *tiles);

// Writes a matrix of finite values, whose spans begin at `out_spans`: of each tile the largest
// magnitude is the largest quant, or with zero points the least and the largest value are the ends;
// numbers are rounded to the nearest.
void codec_tiles_write(const struct codec_tiles *tiles,
                       uint64_t rows,
                       uint64_t columns,
                       const float *values,
                       unsigned char *const *out_spans);

#ifdef __cplusplus
}
#endif

#endif
