// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "fast/tiles.h"

enum { BLOCK = 1024, ROWS_AHEAD = 4, LINE_BYTES = 64, CHAINS = 2, SCALES = 64 };

// Some values of a row.
struct piece {
    size_t row, begin, count;
};

typedef int16_t vector_i16 __attribute__((vector_size(VECTOR_BYTES / 2)));

// -- Numbers -----------------------------------------------------------------------------------

// The next bytes, a lane each.
VECTOR_INLINE vector_u16 load_bytes(const unsigned char *bytes)
{
#if VECTOR_BYTES == 64
    return (vector_u16)_mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)bytes));
#elif VECTOR_BYTES == 32
    return (vector_u16)_mm_cvtepu8_epi16(_mm_loadl_epi64((const __m128i *)bytes));
#else
    return (vector_u16){bytes[0], bytes[1], bytes[2], bytes[3]};
#endif
}

// The next halves of bytes, the low one first.
VECTOR_INLINE vector_u16 load_nibbles(const unsigned char *bytes)
{
#if VECTOR_BYTES == 16
    return (vector_u16){bytes[0] & 0xf, bytes[0] >> 4, bytes[1] & 0xf, bytes[1] >> 4};
#else
    uint64_t word = 0;

    memcpy(&word, bytes, VECTOR_LANES / 2);
    // Bytes apart, then each half into a byte of its own.
    const __m128i apart = _mm_cvtepu8_epi16(_mm_cvtsi64_si128((long long)word));
    const __m128i halves =
        _mm_and_si128(_mm_or_si128(apart, _mm_slli_epi16(apart, 4)), _mm_set1_epi16(0x0f0f));
#if VECTOR_BYTES == 64
    return (vector_u16)_mm256_cvtepu8_epi16(halves);
#else
    return (vector_u16)_mm_cvtepu8_epi16(halves);
#endif
#endif
}

// The quants of VECTOR_LANES values from column `at` on. Floats are put into those of f16, whose
// exponents count from elsewhere, and which has their subnormal numbers.
VECTOR_INLINE vector load_quants(enum codec_number kind, const unsigned char *row, size_t at)
{
    const int is_half = kind == CODEC_U4 || kind == CODEC_E2M1;
    const vector_u16 bits = is_half ? load_nibbles(row + at / 2) : load_bytes(row + at);

    if (kind == CODEC_E4M3) { // 127 is NaN.
        const vector_u16 rest = bits & 0x7f, nan = (vector_u16)(rest == 0x7f) & 0x7c00;

        return vector_widen_f16((bits & 0x80) << 8 | rest << 7 | nan) * 0x1p8f;
    }
    if (kind == CODEC_E5M2) {
        return vector_widen_f16(bits << 8);
    }
    if (kind == CODEC_E2M1) {
        return vector_widen_f16((bits & 8) << 12 | (bits & 7) << 9) * 0x1p14f;
    }
    const vector_i16 numbers = (vector_i16)(kind == CODEC_I8 ? bits - ((bits & 0x80) << 1) : bits);

    return __builtin_convertvector(__builtin_convertvector(numbers, vector_i32), vector);
}

// -- Rows --------------------------------------------------------------------------------------

// Values that have one scale. The last ones, fewer than a vector, are left.
VECTOR_INLINE size_t widen_tile(enum codec_number kind,
                                const unsigned char *row,
                                struct codec_scale scale,
                                size_t begin,
                                size_t count,
                                float *values)
{
    size_t i = 0;

    for (; i + VECTOR_LANES <= count; i += VECTOR_LANES) {
        const vector quants = load_quants(kind, row, begin + i);

        vector_store(values + i, (quants - scale.zero) * scale.scale);
    }
    return i;
}

// Values of a row, with the scales of some tiles read together.
VECTOR_INLINE void widen_row(enum codec_number kind,
                             const struct codec_tiles *tiles,
                             const struct codec_matrix *matrix,
                             const struct piece *piece,
                             float *values)
{
    const size_t width = codec_tiles_width(tiles, matrix);
    const unsigned char *quants = codec_tiles_row(tiles, matrix, piece->row);
    size_t begin = piece->begin, count = piece->count, tile = begin / width, at = begin % width;

    while (count > 0) {
        struct codec_scale scales[SCALES];
        const size_t all = (at + count + width - 1) / width, some = all < SCALES ? all : SCALES;

        codec_tiles_scales(tiles, matrix, piece->row, tile, some, scales);
        for (size_t s = 0; s < some; s++) {
            const size_t here = width - at < count ? width - at : count;
            const size_t done = widen_tile(kind, quants, scales[s], begin, here, values);

            if (done < here) {
                codec_tiles_read(tiles, matrix, piece->row, begin + done, here - done,
                                 values + done);
            }
            begin += here;
            count -= here;
            values += here;
            at = 0;
        }
        tile += some;
    }
}

// Asks for the same values of a later row.
static void
fetch(const struct codec_tiles *tiles, const struct codec_matrix *matrix, const struct piece *piece)
{
    const int is_half = tiles->quants == CODEC_U4 || tiles->quants == CODEC_E2M1;
    const unsigned char *quants = codec_tiles_row(tiles, matrix, piece->row);
    const ptrdiff_t ahead = codec_tiles_row(tiles, matrix, ROWS_AHEAD) - matrix->spans[0];
    const size_t first = is_half ? piece->begin / 2 : piece->begin;
    const size_t bytes = is_half ? piece->count / 2 : piece->count;

    for (size_t at = 0; at < bytes; at += LINE_BYTES) {
        vector_fetch(quants + first + at, ahead);
    }
}

void LEVEL(tiles_widen)(const struct codec_tiles *tiles,
                        const struct codec_matrix *matrix,
                        size_t row,
                        size_t begin,
                        size_t count,
                        float *values)
{
    const struct piece piece = {row, begin, count};

    fetch(tiles, matrix, &piece);
    switch ((int)tiles->quants) {
    case CODEC_E4M3:
        widen_row(CODEC_E4M3, tiles, matrix, &piece, values);
        break;
    case CODEC_E5M2:
        widen_row(CODEC_E5M2, tiles, matrix, &piece, values);
        break;
    case CODEC_E2M1:
        widen_row(CODEC_E2M1, tiles, matrix, &piece, values);
        break;
    case CODEC_I8:
        widen_row(CODEC_I8, tiles, matrix, &piece, values);
        break;
    case CODEC_U8:
        widen_row(CODEC_U8, tiles, matrix, &piece, values);
        break;
    default:
        widen_row(CODEC_U4, tiles, matrix, &piece, values);
        break;
    }
}

// -- One row of x ------------------------------------------------------------------------------

// Adds the products of `count` values, at most BLOCK, to the sums.
static void multiply_block(const float *x, const float *weights, size_t count, vector *sums)
{
    size_t i = 0;

    for (; i + CHAINS * VECTOR_LANES <= count; i += CHAINS * VECTOR_LANES) {
        for (size_t c = 0; c < CHAINS; c++) {
            const size_t at = i + c * VECTOR_LANES;

            sums[c] += vector_load(TAPML_F32, x + at) * vector_load(TAPML_F32, weights + at);
        }
    }
    for (; i < count; i += VECTOR_LANES) {
        const size_t rest = count - i < VECTOR_LANES ? count - i : VECTOR_LANES;

        sums[0] += vector_load_some(TAPML_F32, x + i, rest) *
                   vector_load_some(TAPML_F32, weights + i, rest);
    }
}

void LEVEL(tiles_multiply)(const struct codec_tiles *tiles,
                           const struct codec_matrix *matrix,
                           size_t first,
                           const float *x,
                           size_t row_count,
                           float *y)
{
    float weights[BLOCK] __attribute__((aligned(64)));

    for (size_t row = 0; row < row_count; row++) {
        vector sums[CHAINS] = {{0}};

        for (size_t begin = 0; begin < matrix->columns; begin += BLOCK) {
            const size_t rest = matrix->columns - begin, count = rest < BLOCK ? rest : BLOCK;

            LEVEL(tiles_widen)(tiles, matrix, first + row, begin, count, weights);
            multiply_block(x + begin, weights, count, sums);
        }
        y[row] = vector_sum(sums[0] + sums[1]);
    }
}
