// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fast/units.h"

#include <stdbool.h>

// Products of quants of four to six bits with x in whole numbers, where an instruction multiplies
// and adds 64 bytes (VNNI).
//
// Each value of a block of x becomes a whole number of steps, a power of two by which the largest
// one has 23 bits and a sign: what x loses is a rounding of its largest neighbour. The number is
// written in three digits of 8 bits, -128 .. 127, so that three such instructions multiply it, and
// the sums of a block are exact. Where they become floats, and from there on, sums are as
// elsewhere.
#if defined(__AVX512VNNI__)

enum {
    DIGIT_COUNT = 3,
    SECTION_VALUES = UNITS_SECTION * UNITS_VALUES, // Their scales fill a vector.
    GROUP_UNITS = 4,  // Their quants fill two vectors, each unit four lanes of both.
    GROUP_BYTES = 64, // Of such a vector.
    GROUP_COUNT = UNITS_SECTION / GROUP_UNITS,
    DIGITS_TERM_MAX = 1 << 15, // What fits on a stack: 120 KiB.
};

// Which values of a unit are in the first of its two vectors, the others being in the second: the
// order in which an encoding's bits come apart.
enum digits_order {
    DIGITS_PAIRS,  // Even ones: both values of a byte are in one lane.
    DIGITS_HALVES, // The first 16.
    DIGITS_EIGHTS, // Of each 16 values the first eight: a scale is for two lanes.
};

struct digits_section {
    int8_t digits[GROUP_COUNT][2 * DIGIT_COUNT][GROUP_BYTES]; // Of the first values, of the second
                                                              // ones, the highest digits first.
    int32_t offsets[GROUP_COUNT][VECTOR_LANES];               // The numbers of a lane times minus
                                                              // the middle of the quants.
    float steps[UNITS_SECTION], sums[UNITS_SECTION];          // A step; the values of a unit.
} __attribute__((aligned(64)));

struct digits {
    struct digits_section sections[DIGITS_TERM_MAX / SECTION_VALUES];
};

// The numbers of a group times quants without a sign. A lane has the sum of eight.
VECTOR_INLINE __m512i digits_multiply(const struct digits_section *section,
                                      size_t g,
                                      __m512i first,
                                      __m512i second)
{
    __m512i sums = _mm512_setzero_si512();

    for (size_t i = 0; i < DIGIT_COUNT; i++) {
        if (i > 0) {
            sums = _mm512_slli_epi32(sums, 8);
        }
        sums = _mm512_dpbusd_epi32(sums, first, _mm512_load_si512(section->digits[g][2 * i]));
        sums = _mm512_dpbusd_epi32(sums, second, _mm512_load_si512(section->digits[g][2 * i + 1]));
    }
    return sums;
}

// The largest magnitude of 32 values, in every lane. As whole numbers, what is no number is larger
// than infinity, and that than all others.
VECTOR_INLINE vector digits_largest(vector low, vector high)
{
    const __m512i mask = _mm512_set1_epi32(INT32_MAX);
    __m512i most = _mm512_max_epi32(_mm512_and_si512((__m512i)low, mask),
                                    _mm512_and_si512((__m512i)high, mask));

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

// The 16 values of a unit that are in the first of its vectors, or else in the second.
VECTOR_INLINE vector digits_choose(enum digits_order order, bool is_first, vector low, vector high)
{
    if (order == DIGITS_HALVES) {
        return is_first ? low : high;
    }
    if (order == DIGITS_EIGHTS) {
        return is_first ? __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19,
                                                  20, 21, 22, 23)
                        : __builtin_shufflevector(low, high, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25,
                                                  26, 27, 28, 29, 30, 31);
    }
    return is_first ? __builtin_shufflevector(low, high, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22,
                                              24, 26, 28, 30)
                    : __builtin_shufflevector(low, high, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23,
                                              25, 27, 29, 31);
}

// Splits unit `u` of a section. False where a value is not finite, or hardly so.
VECTOR_INLINE bool
digits_split_unit(enum digits_order order, const float *x, size_t u, struct digits_section *section)
{
    const vector low = vector_load(TAPML_F32, x), high = vector_load(TAPML_F32, x + VECTOR_LANES);
    // A little more than the largest, since three digits end at 127 * 65536 + 127 * 256 + 127. The
    // least step is normal, also of a unit of zeros.
    const vector_i32 bits = (vector_i32)(digits_largest(low, high) * 0x1.02p0f) & 0x7f800000;
    const vector_i32 exponent =
        (vector_i32)_mm512_max_epi32((__m512i)bits, _mm512_set1_epi32(30 << 23));
    const vector_i32 step = exponent - (22 << 23);
    const vector per_step = (vector)((254 << 23) - step);
    int8_t(*rows)[GROUP_BYTES] = section->digits[u / GROUP_UNITS];
    const size_t at = u % GROUP_UNITS * (GROUP_BYTES / GROUP_UNITS);

    digits_write(digits_choose(order, true, low, high) * per_step, rows, at);
    digits_write(digits_choose(order, false, low, high) * per_step, rows + 1, at);
    section->steps[u] = ((vector)step)[0];
    return bits[0] != 0x7f800000;
}

// What follows from the digits of a section.
VECTOR_INLINE void digits_add_up(int middle, struct digits_section *section)
{
    const __m512i middles = _mm512_set1_epi8((char)middle);

    for (size_t g = 0; g < GROUP_COUNT; g++) {
        const vector_i32 products = (vector_i32)digits_multiply(section, g, middles, middles);
        const vector numbers = __builtin_convertvector(products, vector) * (1.0f / (float)middle);
        const vector_i32 offsets = -products;

        memcpy(section->offsets[g], &offsets, sizeof(offsets));
        for (size_t u = 0; u < GROUP_UNITS; u++) {
            const size_t lane = u * VECTOR_LANES / GROUP_UNITS;

            section->sums[g * GROUP_UNITS + u] =
                ((numbers[lane] + numbers[lane + 1]) + (numbers[lane + 2] + numbers[lane + 3])) *
                section->steps[g * GROUP_UNITS + u];
        }
    }
}

// Splits a row of x, whole units, at most DIGITS_TERM_MAX values. False where one is not finite, or
// hardly so: the numbers say nothing then.
VECTOR_INLINE bool digits_split(
    enum digits_order order, int middle, const float *x, size_t count, struct digits *digits)
{
    bool is_finite = true;

    for (size_t begin = 0; begin < count; begin += SECTION_VALUES) {
        struct digits_section *section = &digits->sections[begin / SECTION_VALUES];
        const size_t rest = (count - begin) / UNITS_VALUES;
        const float zeros[UNITS_VALUES] = {0};

        for (size_t u = 0; u < UNITS_SECTION; u++) {
            is_finite &= digits_split_unit(order, u < rest ? x + begin + u * UNITS_VALUES : zeros,
                                           u, section);
        }
    }
    for (size_t begin = 0; begin < count; begin += SECTION_VALUES) {
        digits_add_up(middle, &digits->sections[begin / SECTION_VALUES]);
    }
    return is_finite;
}

// -- Weights -----------------------------------------------------------------------------------

// Where fifth and sixth bits are in pairs or words of a unit, they do not come apart cheaply.
VECTOR_INLINE bool digits_take(const struct units_form *form)
{
    return form->bits == 4 || (form->is_piece && form->bits < 8);
}

VECTOR_INLINE enum digits_order digits_order_of(const struct units_form *form)
{
    if (form->bits == 6) {
        return DIGITS_EIGHTS;
    }
    return form->is_piece ? DIGITS_HALVES : DIGITS_PAIRS;
}

// What quants count from, so that nothing cancels against the mins of those around zero.
VECTOR_INLINE int digits_middle_of(const struct units_form *form)
{
    return 1 << (form->bits - 1);
}

// The quants of four units, without a sign.
struct digits_quants {
    __m512i first, second;
};

// The nibbles of four small blocks from `units` on, of which `count` are there: others repeat the
// last.
VECTOR_INLINE struct digits_quants
digits_small(const struct units_form *form, const struct units *units, size_t count)
{
    const __m512i ones = _mm512_set1_epi8(15);
    const size_t last = count < GROUP_UNITS ? count - 1 : GROUP_UNITS - 1;
    __m512i packed;

    if (!form->is_piece && last == GROUP_UNITS - 1) {
        packed = _mm512_loadu_si512(units->quants);
    } else {
        const __m128i *places[GROUP_UNITS];

        for (size_t u = 0; u < GROUP_UNITS; u++) {
            places[u] = (const __m128i *)units_at(form, units, u < last ? u : last).quants;
        }
        packed = _mm512_castsi128_si512(_mm_loadu_si128(places[0]));
        packed = _mm512_inserti32x4(packed, _mm_loadu_si128(places[1]), 1);
        packed = _mm512_inserti32x4(packed, _mm_loadu_si128(places[2]), 2);
        packed = _mm512_inserti32x4(packed, _mm_loadu_si128(places[3]), 3);
    }
    struct digits_quants quants = {
        .first = _mm512_and_si512(packed, ones),
        .second = _mm512_and_si512(_mm512_srli_epi16(packed, 4), ones),
    };

    if (form->bits == 5) {
        const __m512i fifths = _mm512_set1_epi8(16);
        uint64_t firsts = 0, seconds = 0;

        for (size_t u = 0; u < GROUP_UNITS; u++) {
            uint16_t words[2];

            memcpy(words, units_at(form, units, u < last ? u : last).highs, sizeof(words));
            firsts |= (uint64_t)words[0] << (16 * u);
            seconds |= (uint64_t)words[1] << (16 * u);
        }
        quants.first = _mm512_mask_add_epi8(quants.first, firsts, quants.first, fifths);
        quants.second = _mm512_mask_add_epi8(quants.second, seconds, quants.second, fifths);
    }
    return quants;
}

// Sets the fifth bits of the half of a unit, whose bit for unit u of the block is bit u of a byte.
VECTOR_INLINE __m512i digits_set_fifths(__m512i quants, const unsigned char *highs, size_t half)
{
    const __m512i bits = _mm512_set_epi64(
        0x0808080808080808, 0x0808080808080808, 0x0404040404040404, 0x0404040404040404,
        0x0202020202020202, 0x0202020202020202, 0x0101010101010101, 0x0101010101010101);
    const __m512i bytes = _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)highs));
    const __mmask64 mask =
        _mm512_test_epi8_mask(bytes, half == 0 ? bits : _mm512_slli_epi16(bits, 4));

    return _mm512_mask_add_epi8(quants, mask, quants, _mm512_set1_epi8(16));
}

// Half `half` of a large piece of four or five bits. A byte has values of two units.
VECTOR_INLINE struct digits_quants
digits_large(const struct units_form *form, const struct units *block, size_t half)
{
    const __m512i ones = _mm512_set1_epi8(15), shifts = _mm512_set_epi64(4, 4, 0, 0, 4, 4, 0, 0);
    const __m512i packed = _mm512_loadu_si512(block->quants + half * GROUP_BYTES);
    const __m512i firsts = _mm512_shuffle_i64x2(packed, packed, 0xa0);
    const __m512i seconds = _mm512_shuffle_i64x2(packed, packed, 0xf5);
    struct digits_quants quants = {
        .first = _mm512_and_si512(_mm512_srlv_epi64(firsts, shifts), ones),
        .second = _mm512_and_si512(_mm512_srlv_epi64(seconds, shifts), ones),
    };

    if (form->bits == 5) {
        quants.first = digits_set_fifths(quants.first, block->highs, half);
        quants.second = digits_set_fifths(quants.second, block->highs + 16, half);
    }
    return quants;
}

// Half `half` of a large piece of six bits: 64 values in the low bits of its bytes, 64 in the high
// ones.
VECTOR_INLINE struct digits_quants digits_six(const struct units *block, size_t half)
{
    const __m512i ones = _mm512_set1_epi8(15), pairs = _mm512_set1_epi8(0x30);
    const __m512i packed = _mm512_loadu_si512(block->quants + half * GROUP_BYTES);
    const __m512i highs = _mm512_broadcast_i64x4(
        _mm256_loadu_si256((const __m256i *)(block->highs + half * (GROUP_BYTES / 2))));
    const __m512i low_highs = _mm512_sllv_epi64(highs, _mm512_set_epi64(2, 2, 2, 2, 4, 4, 4, 4));
    const __m512i high_highs = _mm512_srlv_epi64(highs, _mm512_set_epi64(2, 2, 2, 2, 0, 0, 0, 0));
    const __m512i low =
        _mm512_or_si512(_mm512_and_si512(packed, ones), _mm512_and_si512(low_highs, pairs));
    const __m512i high = _mm512_or_si512(_mm512_and_si512(_mm512_srli_epi16(packed, 4), ones),
                                         _mm512_and_si512(high_highs, pairs));

    return (struct digits_quants){
        .first = _mm512_permutex2var_epi64(low, _mm512_set_epi64(14, 12, 10, 8, 6, 4, 2, 0), high),
        .second = _mm512_permutex2var_epi64(low, _mm512_set_epi64(15, 13, 11, 9, 7, 5, 3, 1), high),
    };
}

// The quants of group `g` of a section, of which `count` units are there.
VECTOR_INLINE struct digits_quants
digits_load(const struct units_form *form, const struct units *units, size_t g, size_t count)
{
    if (!form->is_large || !form->is_piece) {
        const size_t blocks_before = form->is_large ? g / 2 : g * GROUP_UNITS;
        struct units group = units_at(form, units, blocks_before);

        group.quants += form->is_large ? g % 2 * GROUP_BYTES : 0;
        return digits_small(form, &group, form->is_large ? GROUP_UNITS : count - g * GROUP_UNITS);
    }
    const struct units block = units_at(form, units, g / 2);

    return form->bits == 6 ? digits_six(&block, g % 2) : digits_large(form, &block, g % 2);
}

// What the sums of the lanes of a group become values with: the scales of its quants times the
// steps of x.
VECTOR_INLINE vector digits_factors(const struct units_form *form,
                                    const struct units_scales *scales,
                                    const struct digits_section *section,
                                    size_t g)
{
    const vector_i32 quads = {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3};
    const vector_i32 pairs = {0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7};
    const vector steps = vector_load(TAPML_F32, section->steps);
    const __m512i units = (__m512i)(quads + (int32_t)(g * GROUP_UNITS));

    if (form->bits == 6) {
        const vector some = vector_load(TAPML_F32, scales->scales + g / 2 * VECTOR_LANES);
        const __m512i halves = (__m512i)(pairs + (int32_t)(g % 2 * 8));

        return (vector)_mm512_permutexvar_ps(halves, (__m512)some) *
               (vector)_mm512_permutexvar_ps(units, (__m512)steps);
    }
    return (vector)_mm512_permutexvar_ps(units,
                                         (__m512)(vector_load(TAPML_F32, scales->scales) * steps));
}

// Adds `count` units of weights, at most UNITS_SECTION, times a section to `sums`: those of the
// first are lane by lane, the last ones have what the mins add.
VECTOR_INLINE void digits_add(const struct units_form *form,
                              const struct digits_section *section,
                              const struct units *units,
                              size_t count,
                              vector *sums)
{
    const float middle = (float)digits_middle_of(form);
    struct units_scales scales;

    units_open(form, units, count, &scales);
    if (form->has_mins) {
        sums[2] +=
            (vector_load(TAPML_F32, scales.mins) + middle * vector_load(TAPML_F32, scales.scales)) *
            vector_load(TAPML_F32, section->sums);
    }
    for (size_t g = 0; g * GROUP_UNITS < count; g++) {
        const struct digits_quants quants = digits_load(form, units, g, count);
        const __m512i numbers =
            _mm512_add_epi32(digits_multiply(section, g, quants.first, quants.second),
                             _mm512_load_si512(section->offsets[g]));

        sums[g % 2] +=
            (vector)_mm512_cvtepi32_ps(numbers) * digits_factors(form, &scales, section, g);
    }
}

// The product of a row of x and the `count` units of a row of weights.
VECTOR_INLINE float digits_product(const struct units_form *form,
                                   const struct digits *digits,
                                   const struct units *row,
                                   size_t count)
{
    const size_t section_blocks = form->is_large ? UNITS_SECTION / UNITS_OF_LARGE : UNITS_SECTION;
    const struct digits_section *section = digits->sections;
    struct units units = *row;
    vector sums[3] = {{0}};

    for (; count >= UNITS_SECTION; count -= UNITS_SECTION, section++) {
        units_fetch(form, &units, VECTOR_AHEAD_BYTES);
        digits_add(form, section, &units, UNITS_SECTION, sums);
        units = units_at(form, &units, section_blocks);
    }
    if (count == UNITS_SECTION / 2) { // Often so: rows of whole large blocks.
        digits_add(form, section, &units, UNITS_SECTION / 2, sums);
    } else if (count > 0) {
        digits_add(form, section, &units, count, sums);
    }
    return vector_sum((sums[0] + sums[1]) + sums[2]);
}
#endif
