// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fast/blocks.h"

#include <stdbool.h>

// The values of weights in blocks (docs/encodings.md), widened in registers, 32 at a time: a unit.
// That is a block, or an eighth of one of 256 values. Products of a scale and a quant are exact, so
// that every way to a value gives the same bits.
enum {
    UNITS_VALUES = 32,
    UNITS_LARGE = 256,
    UNITS_OF_LARGE = UNITS_LARGE / UNITS_VALUES,
    UNITS_SECTION = 16, // Units whose scales are widened together: one by one that costs as much
                        // as the quants. Two large units.
    UNITS_VECTORS = UNITS_VALUES / VECTOR_LANES,
};

// How an encoding packs its numbers. All follows from this, and is known where a loop is compiled.
struct units_form {
    bool is_piece; // One span, as files have it; else one for each kind of number.
    bool is_large; // 256 values.
    bool has_mins;
    int bits;   // Of a quant.
    int middle; // What is subtracted from one.
};

// The form of each kind of blocks: UNITS_FORMS(X) gives X(NAME, form) for every BLOCKS_NAME.
#define UNITS_FORMS(X)                                                                             \
    X(GGUF_Q4_0, {.is_piece = true, .bits = 4, .middle = 8})                                       \
    X(GGUF_Q4_1, {.is_piece = true, .bits = 4, .has_mins = true})                                  \
    X(GGUF_Q4_K, {.is_piece = true, .is_large = true, .bits = 4, .has_mins = true})                \
    X(GGUF_Q5_0, {.is_piece = true, .bits = 5, .middle = 16})                                      \
    X(GGUF_Q5_1, {.is_piece = true, .bits = 5, .has_mins = true})                                  \
    X(GGUF_Q5_K, {.is_piece = true, .is_large = true, .bits = 5, .has_mins = true})                \
    X(GGUF_Q6_K, {.is_piece = true, .is_large = true, .bits = 6, .middle = 32})                    \
    X(GGUF_Q8_0, {.is_piece = true, .bits = 8})                                                    \
    X(Q4, {.bits = 4, .has_mins = true})                                                           \
    X(Q4_K, {.is_large = true, .bits = 4, .has_mins = true})                                       \
    X(Q5, {.bits = 5, .has_mins = true})                                                           \
    X(Q5_K, {.is_large = true, .bits = 5, .has_mins = true})                                       \
    X(Q6_K, {.is_large = true, .bits = 6, .middle = 32})                                           \
    X(Q8, {.bits = 8})

// Where the numbers of a block lie. Those of the next follow in steps that its form says.
struct units {
    const unsigned char *quants, *highs, *factors, *scales, *mins;
};

// -- Bytes of a block --------------------------------------------------------------------------

struct units_bytes {
    size_t quants, highs, factors, scales, mins; // In the order of spans.
};

VECTOR_INLINE struct units_bytes units_bytes_of(const struct units_form *form)
{
    const size_t values = form->is_large ? UNITS_LARGE : UNITS_VALUES;
    const size_t packed_factors = form->is_piece && form->has_mins ? 12 : 16;
    const bool has_pair = form->is_large && form->has_mins; // Scale and min scale.

    return (struct units_bytes){
        .quants = form->bits == 8 ? values : values / 2,
        .highs = form->bits == 8 ? 0 : values * (size_t)(form->bits - 4) / 8,
        .factors = form->is_large ? packed_factors : 0,
        .scales = has_pair ? 4 : 2,
        .mins = form->has_mins && !form->is_large ? 2 : 0,
    };
}

// The bytes of a piece, and in them where the quants and the other numbers begin.
VECTOR_INLINE size_t units_piece_bytes(const struct units_form *form)
{
    const struct units_bytes bytes = units_bytes_of(form);

    return bytes.quants + bytes.highs + bytes.factors + bytes.scales + bytes.mins;
}

// Points to what a piece has: first the scales, but for those of six bits last.
VECTOR_INLINE struct units units_of_piece(const struct units_form *form, const unsigned char *piece)
{
    const struct units_bytes bytes = units_bytes_of(form);
    struct units units;

    if (form->bits == 6) {
        units.quants = piece;
        units.highs = units.quants + bytes.quants;
        units.factors = units.highs + bytes.highs;
        units.scales = units.factors + bytes.factors;
        units.mins = NULL;
        return units;
    }
    units.scales = piece;
    units.mins = units.scales + bytes.scales;
    units.factors = units.mins + bytes.mins;
    units.highs = units.factors + bytes.factors;
    units.quants = units.highs + bytes.highs;
    return units;
}

// Block `index` from the first of `units` on.
VECTOR_INLINE struct units
units_at(const struct units_form *form, const struct units *units, size_t index)
{
    const struct units_bytes bytes = units_bytes_of(form);
    const size_t piece = units_piece_bytes(form);
    const bool is_piece = form->is_piece;

    return (struct units){
        .quants = units->quants + index * (is_piece ? piece : bytes.quants),
        .highs = units->highs + index * (is_piece ? piece : bytes.highs),
        .factors = units->factors + index * (is_piece ? piece : bytes.factors),
        .scales = units->scales + index * (is_piece ? piece : bytes.scales),
        .mins = units->mins + index * (is_piece ? piece : bytes.mins),
    };
}

// Asks for the quants of a section to be fetched that is `ahead_bytes` from the one at `units`.
VECTOR_INLINE void
units_fetch(const struct units_form *form, const struct units *units, ptrdiff_t ahead_bytes)
{
    enum { LINE_BYTES = 64 };
    const size_t blocks = UNITS_SECTION / (form->is_large ? UNITS_OF_LARGE : 1);
    const size_t quants = blocks * units_bytes_of(form).quants;
    const size_t highs = form->is_piece ? 0 : blocks * units_bytes_of(form).highs;
    const size_t bytes = form->is_piece ? blocks * units_piece_bytes(form) : quants;

    for (size_t at = 0; at < bytes; at += LINE_BYTES) {
        vector_fetch(units->quants + at, ahead_bytes);
    }
    for (size_t at = 0; at < highs; at += LINE_BYTES) {
        vector_fetch(units->highs + at, ahead_bytes);
    }
}

// -- Bytes as floats ---------------------------------------------------------------------------

typedef uint8_t units_bytes16 __attribute__((vector_size(16)));
typedef uint16_t units_words8 __attribute__((vector_size(16)));
typedef uint64_t units_longs2 __attribute__((vector_size(16)));
typedef uint64_t units_longs4 __attribute__((vector_size(32)));

// The quants of half a unit each, as bytes in their order.
struct unit_quants {
    units_bytes16 halves[2];
};

VECTOR_INLINE units_bytes16 units_load_bytes(const unsigned char *source)
{
    units_bytes16 bytes;

    memcpy(&bytes, source, sizeof(bytes));
    return bytes;
}

VECTOR_INLINE units_bytes16 units_interleave_low(units_bytes16 a, units_bytes16 b)
{
    return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}

VECTOR_INLINE units_bytes16 units_interleave_high(units_bytes16 a, units_bytes16 b)
{
    return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15,
                                   31);
}

// Vector `v` of the quants of a unit as floats. gcc 12 widens bytes by way of memory unless the way
// is spelled out.
VECTOR_INLINE vector units_widen_quants(const struct unit_quants *unit, size_t v)
{
    const units_bytes16 bytes = unit->halves[v * VECTOR_LANES / 16];
#if VECTOR_BYTES == 64
    return (vector)_mm512_cvtepi32_ps(_mm512_cvtepi8_epi32((__m128i)bytes));
#elif VECTOR_BYTES == 32
    const __m128i some =
        v % 2 == 0 ? (__m128i)bytes : _mm_unpackhi_epi64((__m128i)bytes, (__m128i)bytes);

    return (vector)_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(some));
#else
    // Each byte to the top of its lane, in two steps.
    const units_bytes16 zeros = {0};
    const units_words8 words = (units_words8)(v % 4 < 2 ? units_interleave_low(zeros, bytes)
                                                        : units_interleave_high(zeros, bytes));
    const units_words8 none = {0};
    const vector_i32 lanes =
        (vector_i32)(v % 2 == 0 ? __builtin_shufflevector(none, words, 0, 8, 1, 9, 2, 10, 3, 11)
                                : __builtin_shufflevector(none, words, 4, 12, 5, 13, 6, 14, 7, 15));

    return __builtin_convertvector(lanes >> 24, vector);
#endif
}

// -- Scales ------------------------------------------------------------------------------------

// The scales and mins of a section's units. Those of six bits have two scales a unit, one for each
// half.
struct units_scales {
    float scales[2 * UNITS_SECTION], mins[UNITS_SECTION];
};

// The first `count` of VECTOR_LANES f16 that lie `step` bytes from each other, and zeros. Four of
// them are put together in a word: one by one, a vector takes longer to fill, and one that is read
// from memory right behind its numbers would wait for them to be written.
VECTOR_INLINE vector units_gather(const unsigned char *halves, size_t step, size_t count)
{
    uint64_t words[VECTOR_LANES / 4];
    vector_u16 all;

    for (size_t w = 0; w < VECTOR_LANES / 4; w++) {
        words[w] = 0;
        for (size_t i = 4 * w; i < 4 * w + 4 && i < count; i++) {
            uint16_t half;

            memcpy(&half, halves + i * step, sizeof(half));
            words[w] |= (uint64_t)half << i % 4 * 16;
        }
    }
#if VECTOR_BYTES == 16
    memcpy(&all, words, sizeof(all));
#elif VECTOR_BYTES == 32
    all = (vector_u16)(units_longs2){words[0], words[1]};
#else
    all = (vector_u16)(units_longs4){words[0], words[1], words[2], words[3]};
#endif
    return vector_widen_f16(all);
}

// Widens `count` f16, at most UNITS_SECTION, that lie `step` bytes from each other. Zeros follow.
VECTOR_INLINE void
units_widen_halves(const unsigned char *halves, size_t step, size_t count, float *out_values)
{
    for (size_t i = 0; i < UNITS_SECTION; i += VECTOR_LANES) {
        const unsigned char *place = halves + i * step;
        const size_t rest = i < count ? count - i : 0;

        vector_store(out_values + i, step == 2 && rest >= VECTOR_LANES
                                         ? vector_load(TAPML_F16, place)
                                         : units_gather(place, step, rest));
    }
}

// The factors of the eight units of a large block with mins, and those of their mins.
VECTOR_INLINE void units_factors(const struct units_form *form,
                                 const unsigned char *bytes,
                                 uint64_t *out_factors,
                                 uint64_t *out_min_factors)
{
    uint64_t low, high;
    uint32_t rest;

    if (!form->is_piece) { // By turns.
        uint8_t factors[2][UNITS_OF_LARGE];

        for (size_t u = 0; u < UNITS_OF_LARGE; u++) {
            factors[0][u] = bytes[2 * u];
            factors[1][u] = bytes[2 * u + 1];
        }
        memcpy(out_factors, factors[0], sizeof(*out_factors));
        memcpy(out_min_factors, factors[1], sizeof(*out_min_factors));
        return;
    }
    // Six bits of four factors and of four of mins; four bits of the others, and their two highest
    // above the six.
    memcpy(&low, bytes, sizeof(low));
    memcpy(&rest, bytes + sizeof(low), sizeof(rest));
    high = low >> 2 & 0x3030303030303030;
    low &= 0x3f3f3f3f3f3f3f3f;
    high |= (rest & 0x0f0f0f0f) | (uint64_t)(rest >> 4 & 0x0f0f0f0f) << 32;
    *out_factors = (low & 0xffffffff) | high << 32;
    *out_min_factors = low >> 32 | (high & 0xffffffff00000000);
}

// The 16 bytes of `factors` as floats, times a number for the first eight and one for the others.
VECTOR_INLINE void
units_multiply_factors(units_bytes16 factors, float first, float second, float *out_products)
{
    const struct unit_quants numbers = {{factors, factors}};
    const vector firsts = vector_of(first), seconds = vector_of(second);

    for (size_t v = 0; v < UNITS_SECTION / VECTOR_LANES; v++) {
#if VECTOR_BYTES == 64
        const vector scales = __builtin_shufflevector(firsts, seconds, 0, 1, 2, 3, 4, 5, 6, 7, 24,
                                                      25, 26, 27, 28, 29, 30, 31);
#else
        const vector scales = v * VECTOR_LANES < UNITS_OF_LARGE ? firsts : seconds;
#endif
        vector_store(out_products + v * VECTOR_LANES, units_widen_quants(&numbers, v) * scales);
    }
}

// The scale of a large block, and the min scale where it has mins.
struct units_pair {
    float scale, min_scale;
};

VECTOR_INLINE struct units_pair units_widen_pair(const struct units_form *form,
                                                 const unsigned char *scales)
{
    uint64_t halves = 0;

    memcpy(&halves, scales, form->has_mins ? 4 : 2);
#if VECTOR_BYTES == 16
    const vector values = vector_load(TAPML_F16, &halves);

    return (struct units_pair){values[0], values[1]};
#else
    const __m128 values = _mm_cvtph_ps(_mm_cvtsi64_si128((long long)halves));

    return (struct units_pair){values[0], values[1]};
#endif
}

// Of `count` large blocks, one or two.
VECTOR_INLINE void units_open_large(const struct units_form *form,
                                    const struct units *units,
                                    size_t count,
                                    struct units_scales *out_scales)
{
    const struct units second = units_at(form, units, count > 1);
    const struct units_pair none = {0, 0};
    const struct units_pair one = units_widen_pair(form, units->scales);
    const struct units_pair two = count > 1 ? units_widen_pair(form, second.scales) : none;
    uint64_t factors[2], min_factors[2];

    if (!form->has_mins) {
        units_multiply_factors(units_load_bytes(units->factors), one.scale, one.scale,
                               out_scales->scales);
        units_multiply_factors(units_load_bytes(second.factors), two.scale, two.scale,
                               out_scales->scales + UNITS_SECTION);
        return;
    }
    units_factors(form, units->factors, &factors[0], &min_factors[0]);
    units_factors(form, second.factors, &factors[1], &min_factors[1]);
    units_multiply_factors((units_bytes16)(units_longs2){factors[0], factors[1]}, one.scale,
                           two.scale, out_scales->scales);
    units_multiply_factors((units_bytes16)(units_longs2){min_factors[0], min_factors[1]},
                           -one.min_scale, -two.min_scale, out_scales->mins);
}

// The scales of the first `count` units, at most UNITS_SECTION and whole blocks. What
// follows is zero.
VECTOR_INLINE void units_open(const struct units_form *form,
                              const struct units *units,
                              size_t count,
                              struct units_scales *out_scales)
{
    const size_t piece = units_piece_bytes(form);

    if (form->is_large) {
        units_open_large(form, units, count / UNITS_OF_LARGE, out_scales);
        return;
    }
    units_widen_halves(units->scales, form->is_piece ? piece : 2, count, out_scales->scales);
    if (form->has_mins) {
        units_widen_halves(units->mins, form->is_piece ? piece : 2, count, out_scales->mins);
    }
}
