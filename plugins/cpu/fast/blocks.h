// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fast/product.h"

// Weights in blocks (docs/encodings.md), widened in registers: `tapml.q4/1` where blocks have mins,
// else `tapml.q8/1`. Products of a scale and a quant are exact, so that every way to a value gives
// the same bits.
enum { BLOCK_VALUES = 32, BLOCK_VECTORS = BLOCK_VALUES / VECTOR_LANES };

// Bytes of a block's quants.
VECTOR_INLINE size_t block_bytes(int has_min)
{
    return has_min ? BLOCK_VALUES / 2 : BLOCK_VALUES;
}

struct block {
    const unsigned char *quants;
    vector scale, min;
};

// VECTOR_LANES bytes with a sign as floats. gcc 12 widens them by way of memory unless the way is
// spelled out.
VECTOR_INLINE vector block_widen_bytes(const unsigned char *bytes)
{
#if VECTOR_BYTES == 64
    const __m128i quants = _mm_loadu_si128((const __m128i *)bytes);

    return (vector)_mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(quants));
#elif VECTOR_BYTES == 32
    const __m128i quants = _mm_loadl_epi64((const __m128i *)bytes);

    return (vector)_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(quants));
#else
    const int8_t *quants = (const int8_t *)bytes;

    return __builtin_convertvector((vector_i32){quants[0], quants[1], quants[2], quants[3]},
                                   vector);
#endif
}

// Vector `v` of the quants of four bits of a block. What lies above the four bits of a lane is
// undefined.
VECTOR_INLINE vector_u32 block_spread_nibbles(const unsigned char *quants, size_t v)
{
#if VECTOR_BYTES == 64
    const vector_u32 lanes = {0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7};
    const vector_u32 shifts = {0, 4, 0, 4, 0, 4, 0, 4, 0, 4, 0, 4, 0, 4, 0, 4};
    const __m512i bytes = _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)quants));

    return (vector_u32)_mm512_shuffle_epi8(bytes, (__m512i)(lanes + (uint32_t)(8 * v))) >> shifts;
#elif VECTOR_BYTES == 32
    const vector_u32 shifts = {0, 4, 8, 12, 16, 20, 24, 28};
    uint32_t word;

    memcpy(&word, quants + v * sizeof(word), sizeof(word));
    return (word + (vector_u32){0}) >> shifts;
#else
    const unsigned char *bytes = quants + 2 * v;

    return (vector_u32){bytes[0], bytes[0] >> 4, bytes[1], bytes[1] >> 4};
#endif
}

VECTOR_INLINE vector blocks_widen(const unsigned char *halves, size_t count)
{
    return count == VECTOR_LANES ? vector_load(TAPML_F16, halves)
                                 : vector_load_some(TAPML_F16, halves, count);
}

// Blocks that follow each other, from `quants`, `scales` and `mins` on. Their scales and mins are
// widened together: one by one that costs as much as the quants.
struct blocks {
    const unsigned char *quants;
    float scales[VECTOR_LANES], mins[VECTOR_LANES];
};

// The first `count` blocks from block `index` of a product on, at most VECTOR_LANES.
VECTOR_INLINE void blocks_open(
    int has_min, const struct product *product, size_t index, size_t count, struct blocks *blocks)
{
    const unsigned char *scales = product->scales + index * 2;

    blocks->quants = (const unsigned char *)product->weights + index * block_bytes(has_min);
    vector_store(blocks->scales, blocks_widen(scales, count));
    if (has_min) {
        vector_store(blocks->mins, blocks_widen(product->mins + index * 2, count));
    }
}

VECTOR_INLINE struct block blocks_at(int has_min, const struct blocks *blocks, size_t i)
{
    struct block block = {
        .quants = blocks->quants + i * block_bytes(has_min),
        .scale = vector_of(blocks->scales[i]),
    };

    if (has_min) {
        block.min = vector_of(blocks->mins[i]);
    }
    return block;
}

// Vector `v` of the values of a block. The 16 values that quants of four bits have are a table that
// fits in the widest vector.
VECTOR_INLINE vector block_load(int has_min, const struct block *block, size_t v)
{
    if (!has_min) {
        return block->scale * block_widen_bytes(block->quants + v * VECTOR_LANES);
    }
    const vector_u32 quants = block_spread_nibbles(block->quants, v);
#if VECTOR_BYTES == 64
    const vector numbers = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    const vector table = block->scale * numbers + block->min;

    return (vector)_mm512_permutexvar_ps((__m512i)quants, (__m512)table);
#else
    const vector numbers = __builtin_convertvector((vector_i32)(quants & 15), vector);

    return block->scale * numbers + block->min;
#endif
}
