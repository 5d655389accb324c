// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The other half of tiles.c: values as quants and scales.
#include "number.h"
#include "tiny.h"

#include <tapml/codec/tiles.h>

#include <math.h>
#include <string.h>

enum { QUANTS, SCALES, ZEROS, WORD_BITS = 32, E4M3_COUNT = 127, E5M2_COUNT = 124, E2M1_COUNT = 8 };

// Of a matrix: any number does, since scales are relative to it.
static const float FACTOR = 0.75f;

// A matrix that is written.
struct writing {
    const struct codec_tiles *tiles;
    uint64_t rows, columns;
    const float *values;
    unsigned char *const *spans;
    struct codec_matrix matrix; // The same, to be read.
};

// The values of one scale: rows and columns of the matrix.
struct tile {
    uint64_t first_row, end_row, first, end;
    uint64_t index, across; // Of the scale, and of the tile in its row of tiles.
};

static void put_f32(float value, unsigned char *bytes)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof(bits));
    for (unsigned i = 0; i < sizeof(bits); i++) {
        bytes[i] = (unsigned char)(bits >> 8 * i);
    }
}

// The power of two that is not below `value`, as its byte.
static unsigned char power_above(float value, uint32_t least)
{
    int exponent = 0;
    const float digits = frexpf(value, &exponent);
    const int power = (digits == 0.5f ? exponent - 1 : exponent) + 127;

    return (unsigned char)(value <= 0 || power < (int)least ? (int)least
                           : power > 254                    ? 254
                                                            : power);
}

// Writes the number with which `value` is the scale.
static void put_scale(const struct writing *writing, uint64_t index, float value)
{
    unsigned char *bytes = writing->spans[SCALES];
    unsigned char word[sizeof(float)];

    if (writing->tiles->factor == CODEC_FACTOR_TIMES) {
        value /= FACTOR;
    } else if (writing->tiles->factor == CODEC_FACTOR_DIVIDES) {
        value *= FACTOR;
    }
    if (writing->tiles->scales == CODEC_F32) {
        put_f32(value, bytes + index * sizeof(word));
    } else if (writing->tiles->scales == CODEC_BF16) { // Towards zero: larger quants are cut.
        put_f32(value, word);
        memcpy(bytes + 2 * index, word + 2, 2);
    } else if (writing->tiles->scales == CODEC_F16) {
        number_write_half(value, bytes + 2 * index);
    } else if (writing->tiles->scales == CODEC_E8M0) {
        bytes[index] = power_above(value, codec_tiles_least_power(writing->tiles));
    } else {
        bytes[index] = (unsigned char)tiny_nearest(tiny_e4m3, E4M3_COUNT, value);
    }
}

// The floats among the quants: their magnitudes, and the sign's bit.
static const struct floats {
    const float *magnitudes;
    unsigned count, sign;
} floats_of[] = {
    [CODEC_E4M3] = {tiny_e4m3, E4M3_COUNT, 1 << 7},
    [CODEC_E5M2] = {tiny_e5m2, E5M2_COUNT, 1 << 7},
    [CODEC_E2M1] = {tiny_e2m1, E2M1_COUNT, 1 << 3},
};

static const struct floats *find_floats(const struct codec_tiles *tiles)
{
    return tiles->quants <= CODEC_E2M1 ? &floats_of[tiles->quants] : NULL;
}

// The largest quant: of what has zero points, their range.
static float largest_quant(const struct codec_tiles *tiles)
{
    const struct floats *floats = find_floats(tiles);
    const float range = tiles->quants == CODEC_U4 ? 15 : 255;
    const float half = tiles->quants == CODEC_U4 ? 7 : 127;

    if (floats != NULL) {
        return floats->magnitudes[floats->count - 1];
    }
    return tiles->zeros == CODEC_ZEROS_NONE || tiles->zeros == CODEC_ZEROS_MIDDLE ? half : range;
}

static unsigned quant_of(const struct codec_tiles *tiles, float quotient, int zero)
{
    const struct floats *floats = find_floats(tiles);
    const int is_signed = tiles->quants == CODEC_I8;

    if (floats != NULL) {
        return tiny_nearest(floats->magnitudes, floats->count, fabsf(quotient)) |
               (signbit(quotient) ? floats->sign : 0);
    }
    return (unsigned)number_round((double)quotient + zero, is_signed ? -128 : 0,
                                  is_signed                   ? 127
                                  : tiles->quants == CODEC_U4 ? 15
                                                              : 255) &
           0xff;
}

static void put_quant(const struct writing *writing, uint64_t row, uint64_t column, unsigned quant)
{
    const struct codec_tiles *tiles = writing->tiles;
    unsigned char *bytes = writing->spans[QUANTS] +
                           codec_tiles_bytes(tiles->encoding->spans[QUANTS], row, writing->columns);

    if (tiles->quants == CODEC_U4 || tiles->quants == CODEC_E2M1) {
        bytes[column / 2] |= (unsigned char)(quant << column % 2 * 4);
    } else {
        bytes[column] = (unsigned char)quant;
    }
}

// The zero point with which `least` is the least quant, and where it is written.
static int put_zero(const struct writing *writing, const struct tile *tile, float least)
{
    const struct codec_tiles *tiles = writing->tiles;
    const unsigned bits = tiles->quants == CODEC_U4 ? 4 : 8;
    const uint64_t in_word = WORD_BITS / bits, width = codec_tiles_width(tiles, &writing->matrix);
    const int most = (1 << bits) - 1, less = tiles->zeros == CODEC_ZEROS_LESS;

    if (tiles->zeros == CODEC_ZEROS_I8) {
        const int zero = number_round(-128 - (double)least, -128, 127);

        writing->spans[ZEROS][tile->index] = (unsigned char)zero;
        return zero;
    }
    const int zero = number_round(-(double)least, less, most + less);
    const uint64_t across = (writing->columns + width - 1) / width;
    const uint64_t bit = tile->first_row % in_word * bits;
    unsigned char *word = writing->spans[ZEROS] +
                          (tile->first_row / in_word * across + tile->across) * sizeof(uint32_t);

    word[bit / 8] |= (unsigned char)((unsigned)(zero - less) << bit % 8);
    return zero;
}

static void write_tile(const struct writing *writing, const struct tile *tile)
{
    const struct codec_tiles *tiles = writing->tiles;
    const int has_ends = tiles->zeros > CODEC_ZEROS_MIDDLE;
    float least = 0, largest = 0, extreme = 0;

    for (uint64_t row = tile->first_row; row < tile->end_row; row++) {
        for (uint64_t i = tile->first; i < tile->end; i++) {
            const float value = writing->values[row * writing->columns + i];

            least = fminf(least, value);
            largest = fmaxf(largest, value);
        }
    }
    extreme = has_ends ? largest - least : fmaxf(largest, -least);
    put_scale(writing, tile->index, extreme / largest_quant(tiles));

    struct codec_scale scale;

    codec_tiles_scales(tiles, &writing->matrix, tile->first_row, tile->across, 1, &scale);
    const double inverse = number_inverse(scale.scale);
    const int middle = tiles->zeros == CODEC_ZEROS_MIDDLE ? tiles->quants == CODEC_U4 ? 8 : 128 : 0;
    const int zero = has_ends ? put_zero(writing, tile, (float)(least * inverse)) : middle;

    for (uint64_t row = tile->first_row; row < tile->end_row; row++) {
        for (uint64_t i = tile->first; i < tile->end; i++) {
            const double quotient = writing->values[row * writing->columns + i] * inverse;

            put_quant(writing, row, i, quant_of(tiles, (float)quotient, zero));
        }
    }
}

static uint64_t least_of(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

void codec_tiles_write(const struct codec_tiles *tiles,
                       uint64_t rows,
                       uint64_t columns,
                       const float *values,
                       unsigned char *const *out_spans)
{
    const tapml_encoding *encoding = tiles->encoding;
    struct writing writing = {tiles, rows, columns, values, out_spans, {rows, columns, {NULL}}};
    struct tile tile = {0};

    for (uint32_t i = 0; i < encoding->n_spans; i++) {
        writing.matrix.spans[i] = out_spans[i];
        memset(out_spans[i], 0, codec_tiles_bytes(encoding->spans[i], rows, columns));
    }
    if (tiles->factor != CODEC_FACTOR_NONE && rows > 0 && columns > 0) {
        put_f32(FACTOR, out_spans[encoding->n_spans - 1]);
    }
    const uint64_t high = least_of(encoding->spans[SCALES]->tile_rows, rows);
    const uint64_t wide = codec_tiles_width(tiles, &writing.matrix);

    for (; tile.first_row < rows; tile.first_row += high) {
        tile.end_row = least_of(tile.first_row + high, rows);
        tile.across = 0;
        for (tile.first = 0; tile.first < columns; tile.first += wide) {
            tile.end = least_of(tile.first + wide, columns);
            write_tile(&writing, &tile);
            tile.index++;
            tile.across++;
        }
    }
}
