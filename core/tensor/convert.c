// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "tensor/convert.h"

#include "base/assert.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

#include <math.h>
#include <string.h>

static uint32_t bits_of(float value)
{
    uint32_t bits = 0;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

static float float_of(uint32_t bits)
{
    float value = 0;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

// `value` without its `shift` lowest bits, to nearest, ties to even. `shift` is 1 to 31.
static uint32_t shift_rounded(uint32_t value, unsigned shift)
{
    const uint32_t kept = value >> shift;
    const uint32_t rest = value & ((1u << shift) - 1);
    const uint32_t half = 1u << (shift - 1);
    return kept + (rest > half || (rest == half && (kept & 1)) ? 1 : 0);
}

float convert_f16_to_f32(uint16_t bits)
{
    const uint32_t sign = (uint32_t)(bits & 0x8000u) << 16;
    const uint32_t exponent = bits >> 10 & 0x1fu;
    const uint32_t mantissa = bits & 0x3ffu;
    if (exponent == 0) {
        const float magnitude = (float)mantissa * 0x1p-24f;
        return sign ? -magnitude : magnitude;
    }
    if (exponent == 0x1f) {
        return float_of(sign | 0x7f800000u | mantissa << 13);
    }
    return float_of(sign | (exponent + 112) << 23 | mantissa << 13);
}

uint16_t convert_f32_to_f16(float value)
{
    const uint32_t bits = bits_of(value);
    const uint16_t sign = (uint16_t)(bits >> 16 & 0x8000u);
    const uint32_t magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u) {
        return (uint16_t)(sign | 0x7e00u | (magnitude >> 13 & 0x3ffu)); // Quiet, payload kept.
    }
    if (magnitude >= 0x47800000u) { // 65536 and more.
        return sign | 0x7c00u;
    }
    if (magnitude >= 0x38800000u) { // 2^-14 and more: normal; a carry goes on into the exponent.
        return (uint16_t)(sign | shift_rounded(magnitude - (112u << 23), 13));
    }
    const uint32_t exponent = magnitude >> 23;
    if (exponent < 102) { // Below half of the least.
        return sign;
    }
    const uint32_t mantissa = (magnitude & 0x7fffffu) | 0x800000u;
    return (uint16_t)(sign | shift_rounded(mantissa, 126 - exponent));
}

float convert_bf16_to_f32(uint16_t bits)
{
    return float_of((uint32_t)bits << 16);
}

uint16_t convert_f32_to_bf16(float value)
{
    const uint32_t bits = bits_of(value);
    if ((bits & 0x7fffffffu) > 0x7f800000u) {
        return (uint16_t)(bits >> 16 | 0x40u);
    }
    return (uint16_t)shift_rounded(bits, 16);
}

// To f32 so that rounding once more to fewer bits is right: what is not exact is cut towards zero
// and made odd (Boldo and Melquiond, 2008).
static float round_to_odd(double value)
{
    const float nearest = (float)value;
    if (isnan(value) || (double)nearest == value) {
        return nearest;
    }
    const uint32_t bits = bits_of(nearest);
    const int is_beyond = fabs((double)nearest) > fabs(value);
    return float_of((is_beyond ? bits - 1 : bits) | 1u);
}

static int64_t clamp_rounded(double value, int64_t low, int64_t high)
{
    const double rounded = nearbyint(value);
    if (isnan(rounded)) {
        return 0;
    }
    if (rounded <= (double)low) {
        return low;
    }
    return rounded >= (double)high ? high : (int64_t)rounded;
}

// One loop for each type, so that the compiler knows the width of an element.
#define WIDEN(type, expression)                                                                    \
    for (size_t i = 0; i < count; ++i) {                                                           \
        type value;                                                                                \
        memcpy(&value, (const unsigned char *)source + i * sizeof(value), sizeof(value));          \
        out_values[i] = (double)(expression);                                                      \
    }

void convert_to_f64(uint32_t dtype, const void *source, size_t count, double *out_values)
{
    switch (dtype) {
    case TAPML_F32:
        WIDEN(float, value)
        break;
    case TAPML_F16:
        WIDEN(uint16_t, convert_f16_to_f32(value))
        break;
    case TAPML_BF16:
        WIDEN(uint16_t, convert_bf16_to_f32(value))
        break;
    case TAPML_F64:
        WIDEN(double, value)
        break;
    case TAPML_I32:
        WIDEN(int32_t, value)
        break;
    case TAPML_I64:
        WIDEN(int64_t, value)
        break;
    default:
        ASSERT(dtype == TAPML_U8);
        WIDEN(uint8_t, value)
        break;
    }
}

static void store_one(uint32_t dtype, double value, unsigned char *target)
{
    union {
        float f32;
        double f64;
        uint16_t u16;
        int32_t i32;
        int64_t i64;
        uint8_t u8;
    } result;
    switch (dtype) {
    case TAPML_F16:
        result.u16 = convert_f32_to_f16(round_to_odd(value));
        break;
    case TAPML_BF16:
        result.u16 = convert_f32_to_bf16(round_to_odd(value));
        break;
    case TAPML_F64:
        result.f64 = value;
        break;
    case TAPML_I32:
        result.i32 = (int32_t)clamp_rounded(value, INT32_MIN, INT32_MAX);
        break;
    case TAPML_I64:
        result.i64 = clamp_rounded(value, INT64_MIN, INT64_MAX);
        break;
    default:
        ASSERT(dtype == TAPML_U8);
        result.u8 = (uint8_t)clamp_rounded(value, 0, UINT8_MAX);
        break;
    }
    memcpy(target, &result, dtype_bytes(dtype));
}

void convert_from_f64(uint32_t dtype, const double *values, size_t count, void *out_target)
{
    unsigned char *at = out_target;
    const size_t step = dtype_bytes(dtype);
    if (dtype == TAPML_F32) {
        for (size_t i = 0; i < count; ++i) {
            const float value = (float)values[i];
            memcpy(at + i * sizeof(value), &value, sizeof(value));
        }
        return;
    }
    for (size_t i = 0; i < count; ++i) {
        store_one(dtype, values[i], at + i * step);
    }
}

// How a strided tensor is walked: the inner axes that lie dense are one block, the outer ones
// count.
struct walk {
    uint32_t rank; // Of the outer axes.
    size_t block_bytes;
    int64_t index[TAPML_MAX_RANK];
    int64_t shape[TAPML_MAX_RANK];
    int64_t step[TAPML_MAX_RANK]; // In bytes.
    int64_t offset;               // Of the block, in bytes.
    int is_done;
};

static void walk_begin(struct walk *walk,
                       const int64_t *shape,
                       const int64_t *stride,
                       uint32_t rank,
                       size_t element_bytes)
{
    ASSERT(rank <= TAPML_MAX_RANK);
    *walk = (struct walk){.rank = rank};
    for (uint32_t i = 0; i < rank; ++i) {
        walk->is_done = walk->is_done || shape[i] <= 0;
    }
    if (walk->is_done) {
        return;
    }
    int64_t block = 1;
    while (walk->rank > 0) {
        const uint32_t axis = walk->rank - 1;
        if (stride && shape[axis] != 1 && stride[axis] != block) {
            break;
        }
        block *= shape[axis];
        --walk->rank;
    }
    walk->block_bytes = (size_t)block * element_bytes;
    for (uint32_t i = 0; i < walk->rank; ++i) {
        walk->shape[i] = shape[i];
        walk->step[i] = stride[i] * (int64_t)element_bytes;
    }
}

static void walk_next(struct walk *walk)
{
    for (uint32_t i = walk->rank; i > 0; --i) {
        const uint32_t axis = i - 1;
        walk->offset += walk->step[axis];
        if (++walk->index[axis] < walk->shape[axis]) {
            return;
        }
        walk->offset -= walk->step[axis] * walk->shape[axis];
        walk->index[axis] = 0;
    }
    walk->is_done = 1;
}

// A fixed size lets the compiler make a move of it: most strided copies are of single elements.
static void copy_block(void *target, const void *source, size_t size)
{
    if (size == 4) {
        memcpy(target, source, 4);
    } else if (size == 2) {
        memcpy(target, source, 2);
    } else {
        memcpy(target, source, size);
    }
}

void convert_gather(const void *source,
                    const int64_t *shape,
                    const int64_t *stride,
                    uint32_t rank,
                    size_t element_bytes,
                    void *out_target)
{
    const unsigned char *from = source;
    unsigned char *to = out_target;
    struct walk walk;
    for (walk_begin(&walk, shape, stride, rank, element_bytes); !walk.is_done; walk_next(&walk)) {
        copy_block(to, from + walk.offset, walk.block_bytes);
        to += walk.block_bytes;
    }
}

void convert_scatter(const void *source,
                     const int64_t *shape,
                     const int64_t *stride,
                     uint32_t rank,
                     size_t element_bytes,
                     void *out_target)
{
    const unsigned char *from = source;
    unsigned char *to = out_target;
    struct walk walk;
    for (walk_begin(&walk, shape, stride, rank, element_bytes); !walk.is_done; walk_next(&walk)) {
        copy_block(to + walk.offset, from, walk.block_bytes);
        from += walk.block_bytes;
    }
}
