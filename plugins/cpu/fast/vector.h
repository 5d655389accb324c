// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tapml/tensor.h>

#include <stdint.h>
#include <string.h>

#if defined(__F16C__)
#include <immintrin.h>
#endif

// Vectors of floats, as wide as the level that a file is compiled for has them.
//
// The files that include this are compiled once for each level (fast/levels.h). What they export
// is named by LEVEL. A product and a sum may be contracted to one instruction here.
#if defined(__AVX512F__) && defined(__AVX512BW__)
#define VECTOR_BYTES 64
#elif defined(__AVX2__) && defined(__FMA__) && defined(__F16C__)
#define VECTOR_BYTES 32
#else
#define VECTOR_BYTES 16
#endif

#define VECTOR_PASTE(name, level)  name##_##level
#define VECTOR_EXPAND(name, level) VECTOR_PASTE(name, level)
#define LEVEL(name)                VECTOR_EXPAND(name, LEVEL_NAME)

// What takes constants that its callers know: loops over them must unroll. But not with a
// sanitizer's code in each: that takes minutes to compile.
#ifdef __OPTIMIZE__
#define VECTOR_INLINE static inline __attribute__((always_inline))
#else
#define VECTOR_INLINE static inline
#endif

enum { VECTOR_LANES = VECTOR_BYTES / 4 };

typedef float vector __attribute__((vector_size(VECTOR_BYTES)));
typedef int32_t vector_i32 __attribute__((vector_size(VECTOR_BYTES)));
typedef uint32_t vector_u32 __attribute__((vector_size(VECTOR_BYTES)));
typedef uint16_t vector_u16 __attribute__((vector_size(VECTOR_BYTES / 2)));
typedef uint32_t vector_quad_u32 __attribute__((vector_size(16)));

VECTOR_INLINE vector vector_of(float value)
{
    return value - (vector){0};
}

// The values of `a` where `mask` is all ones, of `b` where it is zero.
VECTOR_INLINE vector vector_select(vector_i32 mask, vector a, vector b)
{
    return (vector)((mask & (vector_i32)a) | (~mask & (vector_i32)b));
}

// Eleven bits of fraction at the top of a float's, and an exponent that counts from -15: a product
// with 2^112 puts it right, for subnormal numbers too.
VECTOR_INLINE vector vector_widen_f16(vector_u16 halves)
{
#if VECTOR_BYTES == 64
    return (vector)_mm512_cvtph_ps((__m256i)halves);
#elif VECTOR_BYTES == 32
    return (vector)_mm256_cvtph_ps((__m128i)halves);
#else
    const vector_u32 bits = __builtin_convertvector(halves, vector_u32);
    const vector_u32 sign = (bits & 0x8000u) << 16, rest = (bits & 0x7fffu) << 13;
    const vector_u32 special = (vector_u32)(rest >= 0x0f800000u) & 0x7f800000u;

    return (vector)((vector_u32)((vector)rest * 0x1p112f) | special | sign);
#endif
}

// The upper half of a float. gcc 12 takes three steps for the conversion where there is one.
VECTOR_INLINE vector vector_widen_bf16(vector_u16 words)
{
#if VECTOR_BYTES == 64
    return (vector)((vector_u32)_mm512_cvtepu16_epi32((__m256i)words) << 16);
#elif VECTOR_BYTES == 32
    return (vector)((vector_u32)_mm256_cvtepu16_epi32((__m128i)words) << 16);
#else
    return (vector)(__builtin_convertvector(words, vector_u32) << 16);
#endif
}

// VECTOR_LANES values of type `dtype` at any address, widened.
VECTOR_INLINE vector vector_load(uint32_t dtype, const void *source)
{
    vector_u16 halves;
    vector values;

    if (dtype == TAPML_F32) {
        memcpy(&values, source, sizeof(values));
        return values;
    }
    memcpy(&halves, source, sizeof(halves));
    return dtype == TAPML_F16 ? vector_widen_f16(halves) : vector_widen_bf16(halves);
}

// The first `count` values, fewer than VECTOR_LANES, and zeros behind them.
VECTOR_INLINE vector vector_load_some(uint32_t dtype, const void *source, size_t count)
{
    unsigned char bytes[VECTOR_BYTES] = {0};

    memcpy(bytes, source, count * TAPML_DT_BYTES(dtype));
    return vector_load(dtype, bytes);
}

VECTOR_INLINE void vector_store(float *target, vector values)
{
    memcpy(target, &values, sizeof(values));
}

VECTOR_INLINE void vector_store_some(float *target, vector values, size_t count)
{
    memcpy(target, &values, count * sizeof(*target));
}

// How far ahead of its use a stream is fetched.
enum { VECTOR_AHEAD_BYTES = 8192 };

// Asks for what is read soon, `ahead_bytes` from `place`, to be fetched to the second cache. By
// itself a processor stops at the end of each page, and what x takes of the first cache slows it.
VECTOR_INLINE void vector_fetch(const unsigned char *place, ptrdiff_t ahead_bytes)
{
    enum { SECOND_CACHE = 2 };

    __builtin_prefetch((const void *)((uintptr_t)place + (uintptr_t)ahead_bytes), 0, SECOND_CACHE);
}

// The sum of all lanes, halves onto halves.
VECTOR_INLINE float vector_sum(vector values)
{
    typedef float quad __attribute__((vector_size(16)));
    quad sum = {0};

#if VECTOR_BYTES == 16
    sum = values;
#else
    typedef float eight __attribute__((vector_size(32)));
    eight half;

#if VECTOR_BYTES == 64
    half = __builtin_shufflevector(values, values, 0, 1, 2, 3, 4, 5, 6, 7) +
           __builtin_shufflevector(values, values, 8, 9, 10, 11, 12, 13, 14, 15);
#else
    half = values;
#endif
    sum = __builtin_shufflevector(half, half, 0, 1, 2, 3) +
          __builtin_shufflevector(half, half, 4, 5, 6, 7);
#endif
    sum += __builtin_shufflevector(sum, sum, 2, 3, 2, 3);
    return sum[0] + sum[1];
}

// vector_sum of four vectors, in fewer steps: they are folded side by side.
VECTOR_INLINE void vector_sum_four(const vector *v, float *sums)
{
#if VECTOR_BYTES == 16
    for (size_t i = 0; i < 4; i++) {
        sums[i] = vector_sum(v[i]);
    }
#else
    typedef float quad __attribute__((vector_size(16)));
    quad result;
#if VECTOR_BYTES == 64
    const vector ab = __builtin_shufflevector(v[0], v[1], 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19,
                                              20, 21, 22, 23) +
                      __builtin_shufflevector(v[0], v[1], 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26,
                                              27, 28, 29, 30, 31);
    const vector cd = __builtin_shufflevector(v[2], v[3], 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19,
                                              20, 21, 22, 23) +
                      __builtin_shufflevector(v[2], v[3], 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26,
                                              27, 28, 29, 30, 31);
    vector sum =
        __builtin_shufflevector(ab, cd, 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27) +
        __builtin_shufflevector(ab, cd, 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31);

    sum +=
        __builtin_shufflevector(sum, sum, 2, 3, 2, 3, 6, 7, 6, 7, 10, 11, 10, 11, 14, 15, 14, 15);
    sum += __builtin_shufflevector(sum, sum, 1, 1, 1, 1, 5, 5, 5, 5, 9, 9, 9, 9, 13, 13, 13, 13);
    result = __builtin_shufflevector(sum, sum, 0, 4, 8, 12);
#else
    vector ab = __builtin_shufflevector(v[0], v[1], 0, 1, 2, 3, 8, 9, 10, 11) +
                __builtin_shufflevector(v[0], v[1], 4, 5, 6, 7, 12, 13, 14, 15);
    vector cd = __builtin_shufflevector(v[2], v[3], 0, 1, 2, 3, 8, 9, 10, 11) +
                __builtin_shufflevector(v[2], v[3], 4, 5, 6, 7, 12, 13, 14, 15);

    ab += __builtin_shufflevector(ab, ab, 2, 3, 2, 3, 6, 7, 6, 7);
    cd += __builtin_shufflevector(cd, cd, 2, 3, 2, 3, 6, 7, 6, 7);
    ab += __builtin_shufflevector(ab, ab, 1, 1, 1, 1, 5, 5, 5, 5);
    cd += __builtin_shufflevector(cd, cd, 1, 1, 1, 1, 5, 5, 5, 5);
    result = __builtin_shufflevector(ab, cd, 0, 4, 8, 12);
#endif
    memcpy(sums, &result, sizeof(result));
#endif
}

// exp, off by at most 2 in the last place: 2^n * exp(r), with r within half of log 2 (the constants
// and the polynomial are those of Cephes). What is no number stays so; 2^n comes in two factors,
// which reach the subnormal numbers and infinity.
VECTOR_INLINE vector vector_exp(vector x)
{
    const vector magic = vector_of(0x1.8p23f); // Its last place is 1: a sum with it is rounded.
    vector p = vector_of(1.9875691500e-4f);

    x = vector_select(x < -104.0f, vector_of(-104.0f), x);
    x = vector_select(x > 89.0f, vector_of(89.0f), x);

    const vector shifted = x * 1.44269504088896341f + magic, n = shifted - magic;
    const vector r = (x - n * 0.693359375f) + n * 2.12194440e-4f;

    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * (r * r) + r + 1.0f;

    const vector_i32 exponent = (vector_i32)shifted - (vector_i32)magic, half = exponent >> 1;

    return p * (vector)((half + 127) << 23) * (vector)((exponent - half + 127) << 23);
}
