// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fast/blocks.h"

#include <stdbool.h>

// Products of quants of four bits with x in whole numbers, where an instruction multiplies and adds
// 64 bytes (VNNI).
//
// Each value of a block of x becomes a whole number of steps, a power of two by which the largest
// one has 23 bits and a sign: what x loses is a rounding of its largest neighbour. The number is
// written in three digits of 8 bits, -128 .. 127, so that three such instructions multiply it, and
// the sums of a block are exact. Where they become floats, and from there on, sums are as
// elsewhere.
#if defined(__AVX512VNNI__)

enum {
    DIGIT_COUNT = 3,
    SECTION_BLOCKS = 16, // Their scales fill a vector.
    SECTION_VALUES = SECTION_BLOCKS * BLOCK_VALUES,
    GROUP_BLOCKS = 4, // Their quants fill a vector, each block four lanes of it,
    GROUP_BYTES = 64, // even quants in the low bits.
    GROUP_COUNT = SECTION_BLOCKS / GROUP_BLOCKS,
    DIGITS_TERM_MAX = 1 << 15, // What fits on a stack: 120 KiB.
};

struct digits_section {
    int8_t digits[GROUP_COUNT][2 * DIGIT_COUNT][GROUP_BYTES]; // Of even values, of odd ones, the
                                                              // highest digits first.
    int32_t offsets[GROUP_COUNT][VECTOR_LANES];               // -8 times the numbers of a lane.
    float steps[SECTION_BLOCKS], sums[SECTION_BLOCKS];        // A step; the values of a block.
} __attribute__((aligned(64)));

struct digits {
    struct digits_section sections[DIGITS_TERM_MAX / SECTION_VALUES];
};

// The numbers of a group times quants without a sign. A lane has the sum of eight.
VECTOR_INLINE __m512i digits_multiply(const struct digits_section *section,
                                      size_t g,
                                      __m512i even,
                                      __m512i odd)
{
    __m512i sums = _mm512_setzero_si512();

    for (size_t i = 0; i < DIGIT_COUNT; i++) {
        if (i > 0) {
            sums = _mm512_slli_epi32(sums, 8);
        }
        sums = _mm512_dpbusd_epi32(sums, even, _mm512_load_si512(section->digits[g][2 * i]));
        sums = _mm512_dpbusd_epi32(sums, odd, _mm512_load_si512(section->digits[g][2 * i + 1]));
    }
    return sums;
}

// The largest magnitude of 32 values, in every lane. As whole numbers, what is no number is larger
// than infinity, and that than all others.
VECTOR_INLINE vector digits_largest(vector even, vector odd)
{
    const __m512i mask = _mm512_set1_epi32(INT32_MAX);
    __m512i most = _mm512_max_epi32(_mm512_and_si512((__m512i)even, mask),
                                    _mm512_and_si512((__m512i)odd, mask));

    most = _mm512_max_epi32(most, _mm512_shuffle_i32x4(most, most, 0x4e));
    most = _mm512_max_epi32(most, _mm512_shuffle_i32x4(most, most, 0xb1));
    most = _mm512_max_epi32(most, _mm512_shuffle_epi32(most, (_MM_PERM_ENUM)0x4e));
    most = _mm512_max_epi32(most, _mm512_shuffle_epi32(most, (_MM_PERM_ENUM)0xb1));
    return (vector)most;
}

// Writes 16 numbers from place `at` of every other row of a group.
VECTOR_INLINE void digits_write(vector numbers, int8_t (*rows)[GROUP_BYTES], size_t at)
{
    const __m512i bytes =
        _mm512_broadcast_i32x4(_mm_setr_epi8(2, 6, 10, 14, 1, 5, 9, 13, 0, 4, 8, 12, 3, 7, 11, 15));
    const __m512i lanes = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    const __m512i halves = _mm512_set1_epi32(0x808080); // To bytes without a sign, and back.
    const __m512i shifted = _mm512_add_epi32(_mm512_cvtps_epi32((__m512)numbers), halves);
    const __m512i digits = _mm512_permutexvar_epi32(
        lanes, _mm512_shuffle_epi8(_mm512_xor_si512(shifted, halves), bytes));

    _mm_store_si128((__m128i *)(rows[0] + at), _mm512_extracti32x4_epi32(digits, 0));
    _mm_store_si128((__m128i *)(rows[2] + at), _mm512_extracti32x4_epi32(digits, 1));
    _mm_store_si128((__m128i *)(rows[4] + at), _mm512_extracti32x4_epi32(digits, 2));
}

// Splits block `b` of a section. False where a value is not finite, or hardly so.
VECTOR_INLINE bool digits_split_block(const float *x, size_t b, struct digits_section *section)
{
    const vector low = vector_load(TAPML_F32, x), high = vector_load(TAPML_F32, x + VECTOR_LANES);
    const vector even = __builtin_shufflevector(low, high, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20,
                                                22, 24, 26, 28, 30);
    const vector odd = __builtin_shufflevector(low, high, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23,
                                               25, 27, 29, 31);
    // A little more than the largest, since three digits end at 127 * 65536 + 127 * 256 + 127. The
    // least step is normal, also of a block of zeros.
    const vector_i32 bits = (vector_i32)(digits_largest(even, odd) * 0x1.02p0f) & 0x7f800000;
    const vector_i32 exponent =
        (vector_i32)_mm512_max_epi32((__m512i)bits, _mm512_set1_epi32(30 << 23));
    const vector_i32 step = exponent - (22 << 23);
    const vector per_step = (vector)((254 << 23) - step);
    int8_t(*rows)[GROUP_BYTES] = section->digits[b / GROUP_BLOCKS];
    const size_t at = b % GROUP_BLOCKS * (GROUP_BYTES / GROUP_BLOCKS);

    digits_write(even * per_step, rows, at);
    digits_write(odd * per_step, rows + 1, at);
    section->steps[b] = ((vector)step)[0];
    return bits[0] != 0x7f800000;
}

// What follows from the digits of a section.
VECTOR_INLINE void digits_add_up(struct digits_section *section)
{
    const __m512i eights = _mm512_set1_epi8(8);

    for (size_t g = 0; g < GROUP_COUNT; g++) {
        const vector_i32 products = (vector_i32)digits_multiply(section, g, eights, eights);
        const vector numbers = __builtin_convertvector(products, vector) * 0.125f;
        const vector_i32 offsets = -products;

        memcpy(section->offsets[g], &offsets, sizeof(offsets));
        for (size_t b = 0; b < GROUP_BLOCKS; b++) {
            const size_t lane = b * VECTOR_LANES / GROUP_BLOCKS;

            section->sums[g * GROUP_BLOCKS + b] =
                ((numbers[lane] + numbers[lane + 1]) + (numbers[lane + 2] + numbers[lane + 3])) *
                section->steps[g * GROUP_BLOCKS + b];
        }
    }
}

// Splits a row of x, whole blocks, at most DIGITS_TERM_MAX values. False where one is not finite,
// or hardly so: the numbers say nothing then.
static inline bool digits_split(const float *x, size_t count, struct digits *digits)
{
    bool is_finite = true;

    for (size_t begin = 0; begin < count; begin += SECTION_VALUES) {
        struct digits_section *section = &digits->sections[begin / SECTION_VALUES];
        const size_t rest = (count - begin) / BLOCK_VALUES;
        const float zeros[BLOCK_VALUES] = {0};

        for (size_t b = 0; b < SECTION_BLOCKS; b++) {
            is_finite &=
                digits_split_block(b < rest ? x + begin + b * BLOCK_VALUES : zeros, b, section);
        }
    }
    for (size_t begin = 0; begin < count; begin += SECTION_VALUES) {
        digits_add_up(&digits->sections[begin / SECTION_VALUES]);
    }
    return is_finite;
}

// Blocks of weights: where they lie.
struct digits_weights {
    const unsigned char *quants, *scales, *mins;
};

// Adds `count` blocks of weights, at most SECTION_BLOCKS, times a section to `sums`: those of the
// first are lane by lane, the last ones have what the mins add.
VECTOR_INLINE void digits_add(const struct digits_section *section,
                              struct digits_weights weights,
                              size_t count,
                              vector *sums)
{
    const __m512i ones = _mm512_set1_epi8(15);
    const vector scales = blocks_widen(weights.scales, count);
    const vector mins = blocks_widen(weights.mins, count);
    const vector steps = scales * vector_load(TAPML_F32, section->steps);

    sums[2] += (mins + 8 * scales) * vector_load(TAPML_F32, section->sums);
    for (size_t g = 0; g < GROUP_COUNT; g++) {
        const __mmask16 mask =
            count == SECTION_BLOCKS
                ? 0xffff
                : (__mmask16)((uint64_t)0xffffffffffffffff >> (64 - 4 * count) >> (16 * g));
        const unsigned char *place = weights.quants + g * GROUP_BYTES;
        const __m512i quants = _mm512_maskz_loadu_epi32(mask, place);
        const __m512i even = _mm512_and_si512(quants, ones);
        const __m512i odd = _mm512_and_si512(_mm512_srli_epi16(quants, 4), ones);
        const __m512i numbers = _mm512_add_epi32(digits_multiply(section, g, even, odd),
                                                 _mm512_load_si512(section->offsets[g]));
        const vector_i32 blocks = {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3};
        const __m512i lanes = (__m512i)(blocks + (int32_t)(g * GROUP_BLOCKS));

        vector_fetch(place, VECTOR_AHEAD_BYTES);
        sums[g % 2] += (vector)_mm512_cvtepi32_ps(numbers) *
                       (vector)_mm512_permutexvar_ps(lanes, (__m512)steps);
    }
}

// The product of a row of x and the `count` blocks of a row of weights.
VECTOR_INLINE float
digits_product(const struct digits *digits, struct digits_weights weights, size_t count)
{
    const struct digits_section *section = digits->sections;
    vector sums[3] = {{0}};

    for (; count >= SECTION_BLOCKS; count -= SECTION_BLOCKS, section++) {
        digits_add(section, weights, SECTION_BLOCKS, sums);
        weights.quants += SECTION_VALUES / 2;
        weights.scales += SECTION_BLOCKS * 2;
        weights.mins += SECTION_BLOCKS * 2;
    }
    if (count > 0) {
        digits_add(section, weights, count, sums);
    }
    return vector_sum((sums[0] + sums[1]) + sums[2]);
}
#endif
