// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "number.h"
#include "tiny.h"

#include <tapml/codec/tiles.h>

#include <string.h>

enum { QUANTS, SCALES, ZEROS, WORD_BITS = 32 };

// -- Geometry ----------------------------------------------------------------------------------

// The tiles of `extent`; the last one may be partial.
static uint64_t parts_of(uint64_t extent, uint32_t tile)
{
    return tile == TAPML_TILE_ALL ? extent > 0 : extent / tile + (extent % tile != 0);
}

static uint64_t part_at(uint64_t index, uint32_t tile)
{
    return tile == TAPML_TILE_ALL ? 0 : index / tile;
}

uint64_t codec_tiles_bytes(const tapml_span *span, uint64_t rows, uint64_t columns)
{
    return parts_of(rows, span->tile_rows) * parts_of(columns, span->tile_values) *
           span->block_bytes;
}

uint64_t codec_tiles_width(const struct codec_tiles *tiles, const struct codec_matrix *matrix)
{
    const uint32_t values = tiles->encoding->spans[SCALES]->tile_values;

    return values < matrix->columns ? values : matrix->columns;
}

const unsigned char *
codec_tiles_row(const struct codec_tiles *tiles, const struct codec_matrix *matrix, uint64_t row)
{
    return matrix->spans[QUANTS] +
           codec_tiles_bytes(tiles->encoding->spans[QUANTS], row, matrix->columns);
}

// -- Numbers -----------------------------------------------------------------------------------

static float float_of(uint32_t bits)
{
    float value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

static uint32_t word_at(const unsigned char *bytes, uint64_t index)
{
    bytes += index * sizeof(uint32_t);
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static float number_at(enum codec_number number, const unsigned char *bytes, uint64_t index)
{
    switch (number) {
    case CODEC_E4M3:
        return tiny_e4m3[bytes[index]];
    case CODEC_E5M2:
        return tiny_e5m2[bytes[index]];
    case CODEC_E2M1:
        return tiny_e2m1[bytes[index / 2] >> index % 2 * 4 & 0xf];
    case CODEC_I8:
        return (float)(int8_t)bytes[index];
    case CODEC_U8:
        return (float)bytes[index];
    case CODEC_U4:
        return (float)(bytes[index / 2] >> index % 2 * 4 & 0xf);
    case CODEC_F32:
        return float_of(word_at(bytes, index));
    case CODEC_BF16:
        return float_of((uint32_t)bytes[2 * index] << 16 | (uint32_t)bytes[2 * index + 1] << 24);
    case CODEC_F16:
        return number_read_half(bytes + 2 * index);
    case CODEC_E8M0:
        return tiny_power(bytes[index]);
    }
    return 0;
}

static unsigned bits_of(enum codec_number number)
{
    return number == CODEC_U4 || number == CODEC_E2M1 ? 4 : 8;
}

// -- Reading -----------------------------------------------------------------------------------

static void read_scales(const struct codec_tiles *tiles,
                        const struct codec_matrix *matrix,
                        uint64_t at,
                        uint64_t count,
                        struct codec_scale *out_scales)
{
    const unsigned char *scales = matrix->spans[SCALES];

    for (uint64_t i = 0; i < count; i++) {
        out_scales[i].scale = number_at(tiles->scales, scales, at + i);
    }
    if (tiles->factor == CODEC_FACTOR_NONE) {
        return;
    }
    const float factor = number_at(CODEC_F32, matrix->spans[tiles->encoding->n_spans - 1], 0);

    for (uint64_t i = 0; i < count; i++) {
        const float scale = out_scales[i].scale;

        out_scales[i].scale = tiles->factor == CODEC_FACTOR_TIMES ? scale * factor : scale / factor;
    }
}

// Zero points in words, which run along the rows.
static void read_words(const struct codec_tiles *tiles,
                       const struct codec_matrix *matrix,
                       uint64_t row,
                       uint64_t first,
                       uint64_t count,
                       struct codec_scale *out_scales)
{
    const unsigned bits = bits_of(tiles->quants), less = tiles->zeros == CODEC_ZEROS_LESS;
    const uint64_t in_word = WORD_BITS / bits;
    const uint64_t across = parts_of(matrix->columns, tiles->encoding->spans[SCALES]->tile_values);
    const uint64_t at = row / in_word * across + first, shift = row % in_word * bits;

    for (uint64_t i = 0; i < count; i++) {
        const uint32_t word = word_at(matrix->spans[ZEROS], at + i);

        out_scales[i].zero = (float)((word >> shift & ((1u << bits) - 1)) + less);
    }
}

void codec_tiles_scales(const struct codec_tiles *tiles,
                        const struct codec_matrix *matrix,
                        uint64_t row,
                        uint64_t first,
                        uint64_t count,
                        struct codec_scale *out_scales)
{
    const tapml_span *span = tiles->encoding->spans[SCALES];
    const uint64_t across = parts_of(matrix->columns, span->tile_values);
    const uint64_t at = part_at(row, span->tile_rows) * across + first;
    const float same =
        tiles->zeros == CODEC_ZEROS_MIDDLE ? (float)(1u << (bits_of(tiles->quants) - 1)) : 0;

    read_scales(tiles, matrix, at, count, out_scales);
    if (tiles->zeros == CODEC_ZEROS_WORDS || tiles->zeros == CODEC_ZEROS_LESS) {
        read_words(tiles, matrix, row, first, count, out_scales);
        return;
    }
    for (uint64_t i = 0; i < count; i++) {
        out_scales[i].zero = tiles->zeros == CODEC_ZEROS_I8
                                 ? number_at(CODEC_I8, matrix->spans[ZEROS], at + i)
                                 : same;
    }
}

// The quants of a row from `first` on, by a loop for each kind.
static void read_quants(
    enum codec_number number, const unsigned char *row, uint64_t first, uint64_t count, float *out)
{
    const float *table = number == CODEC_E4M3 ? tiny_e4m3 : tiny_e5m2;

    if (number == CODEC_E4M3 || number == CODEC_E5M2) {
        for (uint64_t i = 0; i < count; i++) {
            out[i] = table[row[first + i]];
        }
        return;
    }
    for (uint64_t i = 0; i < count; i++) {
        out[i] = number_at(number, row, first + i);
    }
}

void codec_tiles_read(const struct codec_tiles *tiles,
                      const struct codec_matrix *matrix,
                      uint64_t row,
                      uint64_t first,
                      uint64_t count,
                      float *out_values)
{
    const uint64_t width = codec_tiles_width(tiles, matrix);
    const unsigned char *quants = codec_tiles_row(tiles, matrix, row);

    while (count > 0) {
        const uint64_t rest = width - first % width, here = count < rest ? count : rest;
        struct codec_scale scale;

        codec_tiles_scales(tiles, matrix, row, first / width, 1, &scale);
        read_quants(tiles->quants, quants, first, here, out_values);
        for (uint64_t i = 0; i < here; i++) {
            out_values[i] = scale.scale * (out_values[i] - scale.zero);
        }
        first += here;
        count -= here;
        out_values += here;
    }
}

uint32_t codec_tiles_dtype(const struct codec_tiles *tiles)
{
    return tiles->scales == CODEC_E8M0 ? TAPML_BF16 : TAPML_F32;
}

// The least number of bf16 is 2^-133; the last digit of e4m3 is 2^-9 at least, that of e5m2 2^-16.
uint32_t codec_tiles_least_power(const struct codec_tiles *tiles)
{
    return tiles->quants == CODEC_E4M3 ? 3 : tiles->quants == CODEC_E5M2 ? 10 : 0;
}
