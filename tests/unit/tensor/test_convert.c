// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/random.h"
#include "tensor/convert.h"
#include "tensor/dtype.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// f16 by the definition of the format, apart from the code under test.
static double f16_value(unsigned bits)
{
    const int exponent = (int)(bits >> 10 & 31);
    const double mantissa = bits & 1023;
    const double magnitude = exponent == 0    ? ldexp(mantissa, -24)
                             : exponent == 31 ? (mantissa > 0 ? (double)NAN : (double)INFINITY)
                                              : ldexp(1024 + mantissa, exponent - 25);
    return bits & 0x8000 ? -magnitude : magnitude;
}

Test(convert, every_f16_goes_there_and_back)
{
    for (unsigned bits = 0; bits < 65536; ++bits) {
        const float value = convert_f16_to_f32((uint16_t)bits);
        if (isnan(f16_value(bits))) {
            cr_assert(isnan(value));
            cr_assert(isnan(convert_f16_to_f32(convert_f32_to_f16(value))));
            continue;
        }
        cr_assert_eq((double)value, f16_value(bits), "%04x", bits);
        cr_assert_eq(convert_f32_to_f16(value), bits, "%04x", bits);
    }
}

Test(convert, every_bf16_goes_there_and_back)
{
    for (unsigned bits = 0; bits < 65536; ++bits) {
        const float value = convert_bf16_to_f32((uint16_t)bits);
        if (isnan(value)) {
            cr_assert(isnan(convert_bf16_to_f32(convert_f32_to_bf16(value))));
        } else {
            cr_assert_eq(convert_f32_to_bf16(value), bits, "%04x", bits);
        }
    }
}

// Nearest of the two neighbours in f16, ties to the even one, by search over all of them.
static unsigned nearest_f16(double magnitude)
{
    unsigned low = 0;
    unsigned high = 0x7c00;
    while (low + 1 < high) {
        const unsigned middle = (low + high) / 2;
        if (f16_value(middle) <= magnitude) {
            low = middle;
        } else {
            high = middle;
        }
    }
    // Infinity stands where the next number would.
    const double above = high == 0x7c00 ? 65536 : f16_value(high);
    const double to_low = magnitude - f16_value(low);
    const double to_high = above - magnitude;
    if (to_low == to_high) {
        return low & 1 ? high : low;
    }
    return to_low < to_high ? low : high;
}

static unsigned f16_of(double value)
{
    uint16_t bits = 0;
    convert_from_f64(TAPML_F16, &value, 1, &bits);
    return bits;
}

Test(convert, f16_rounds_to_nearest_even)
{
    struct random random;
    random_init(&random, 11);
    for (int i = 0; i < 200000; ++i) {
        const double magnitude = exp2(random_between(&random, -27, 17));
        const float value = (float)magnitude;
        cr_assert_eq(convert_f32_to_f16(value), nearest_f16((double)value), "%a", (double)value);
        cr_assert_eq(convert_f32_to_f16(-value), nearest_f16((double)value) | 0x8000);
        cr_assert_eq(f16_of(magnitude), nearest_f16(magnitude), "%a", magnitude);
    }
    for (unsigned bits = 0; bits < 0x7c00; ++bits) {
        const double above = bits + 1 == 0x7c00 ? 65536 : f16_value(bits + 1);
        const double middle = (f16_value(bits) + above) / 2;
        const unsigned even = bits & 1 ? bits + 1 : bits;
        cr_assert_eq(convert_f32_to_f16((float)middle), even, "%04x", bits);
        cr_assert_eq(f16_of(middle), even, "%04x", bits);
        // Rounded to f32 first, these would be ties.
        cr_assert_eq(f16_of(middle * (1 + 0x1p-50)), bits + 1, "%04x", bits);
        cr_assert_eq(f16_of(middle * (1 - 0x1p-50)), bits, "%04x", bits);
    }
}

static unsigned bf16_of(double value)
{
    uint16_t bits = 0;
    convert_from_f64(TAPML_BF16, &value, 1, &bits);
    return bits;
}

Test(convert, bf16_rounds_to_nearest_even)
{
    for (unsigned bits = 0; bits < 0x7f80; bits += bits < 0x200 ? 1 : 13) {
        const double low = (double)convert_bf16_to_f32((uint16_t)bits);
        const double high =
            bits + 1 == 0x7f80 ? 0x1p128 : (double)convert_bf16_to_f32((uint16_t)(bits + 1));
        const double middle = (low + high) / 2;
        cr_assert_eq(convert_f32_to_bf16((float)middle), bits & 1 ? bits + 1 : bits, "%04x", bits);
        cr_assert_eq(bf16_of(middle), bits & 1 ? bits + 1 : bits, "%04x", bits);
        cr_assert_eq(bf16_of(middle * (1 + 0x1p-50)), bits + 1, "%04x", bits);
        cr_assert_eq(bf16_of(-middle * (1 - 0x1p-50)), bits | 0x8000, "%04x", bits);
    }
    cr_assert_eq(bf16_of(1e300), 0x7f80);
    cr_assert_eq(bf16_of(-1e-300), 0x8000);
    cr_assert(isnan(convert_bf16_to_f32((uint16_t)bf16_of((double)NAN))));
    cr_assert(isnan(convert_f16_to_f32((uint16_t)f16_of((double)NAN))));
    cr_assert_eq(f16_of((double)-INFINITY), 0xfc00);
}

Test(convert, integers_are_rounded_and_clamped)
{
    const double values[] = {2.5, 3.5, -2.5, 1e30, -1e30, (double)NAN, -0.4, 300};
    int32_t i32[8];
    convert_from_f64(TAPML_I32, values, 8, i32);
    cr_assert_arr_eq(i32, ((int32_t[]){2, 4, -2, INT32_MAX, INT32_MIN, 0, 0, 300}), sizeof(i32));
    int64_t i64[8];
    convert_from_f64(TAPML_I64, values, 8, i64);
    cr_assert_arr_eq(i64, ((int64_t[]){2, 4, -2, INT64_MAX, INT64_MIN, 0, 0, 300}), sizeof(i64));
    uint8_t u8[8];
    convert_from_f64(TAPML_U8, values, 8, u8);
    cr_assert_arr_eq(u8, ((uint8_t[]){2, 4, 0, 255, 0, 0, 0, 255}), sizeof(u8));
}

Test(convert, every_dtype_goes_there_and_back_unaligned)
{
    const char *const names[] = {"f32", "f16", "bf16", "f64", "i32", "i64", "u8"};
    const double values[] = {0, 1, 2, 100, 127};
    for (size_t i = 0; i < 7; ++i) {
        const uint32_t dtype = dtype_find(names[i]);
        unsigned char bytes[5 * 8 + 1];
        double back[5];
        convert_from_f64(dtype, values, 5, bytes + 1);
        convert_to_f64(dtype, bytes + 1, 5, back);
        cr_assert_arr_eq(back, values, sizeof(values), "%s", names[i]);
    }
    const int64_t large = INT64_MIN;
    double value = 0;
    convert_to_f64(TAPML_I64, &large, 1, &value);
    cr_assert_eq(value, -0x1p63);
}

enum { ELEMENTS_MAX = 4096 };

// Gathers by the definition: every index, every stride.
static size_t gather_plainly(const unsigned char *source,
                             const int64_t *shape,
                             const int64_t *stride,
                             uint32_t rank,
                             size_t bytes,
                             unsigned char *out)
{
    size_t count = 1;
    for (uint32_t i = 0; i < rank; ++i) {
        count *= (size_t)shape[i];
    }
    for (size_t n = 0; n < count; ++n) {
        size_t rest = n;
        size_t offset = 0;
        for (uint32_t i = rank; i > 0; --i) {
            offset += rest % (size_t)shape[i - 1] * (size_t)stride[i - 1];
            rest /= (size_t)shape[i - 1];
        }
        memcpy(out + n * bytes, source + offset * bytes, bytes);
    }
    return count;
}

static void expect_moves(const int64_t *shape, const int64_t *stride, uint32_t rank, size_t bytes)
{
    static unsigned char source[ELEMENTS_MAX * 8];
    static unsigned char expected[ELEMENTS_MAX * 8];
    static unsigned char found[ELEMENTS_MAX * 8];
    static unsigned char back[ELEMENTS_MAX * 8];
    for (size_t i = 0; i < sizeof(source); ++i) {
        source[i] = (unsigned char)(i * 131 >> 3);
    }
    memset(found, 0xee, sizeof(found));
    const size_t count = gather_plainly(source, shape, stride, rank, bytes, expected);
    convert_gather(source, shape, stride, rank, bytes, found);
    cr_assert_arr_eq(found, expected, count * bytes);
    cr_assert_eq(found[count * bytes], 0xee);
    memcpy(back, source, sizeof(back));
    for (size_t i = 0; i < count * bytes; ++i) {
        found[i] ^= 0xff;
    }
    convert_scatter(found, shape, stride, rank, bytes, back);
    (void)gather_plainly(back, shape, stride, rank, bytes, expected);
    cr_assert_arr_eq(expected, found, count * bytes);
    size_t changed = 0;
    for (size_t i = 0; i < sizeof(back); ++i) {
        changed += back[i] != source[i];
    }
    cr_assert_eq(changed, count * bytes, "something beside was written");
}

Test(convert, strided_tensors_are_gathered_and_scattered)
{
    for (size_t bytes = 1; bytes <= 8; bytes *= 2) {
        expect_moves(NULL, NULL, 0, bytes);
        expect_moves((int64_t[]){7}, (int64_t[]){3}, 1, bytes);
        expect_moves((int64_t[]){4, 5}, (int64_t[]){5, 1}, 2, bytes);
        expect_moves((int64_t[]){4, 5}, (int64_t[]){9, 1}, 2, bytes);
        expect_moves((int64_t[]){4, 5}, (int64_t[]){1, 4}, 2, bytes);
        expect_moves((int64_t[]){4, 1, 5}, (int64_t[]){5, 77, 1}, 3, bytes);
        expect_moves((int64_t[]){2, 3, 4, 5}, (int64_t[]){300, 30, 7, 1}, 4, bytes);
        expect_moves((int64_t[]){2, 3, 2, 3, 2, 3}, (int64_t[]){400, 100, 48, 12, 4, 1}, 6, bytes);
    }
}

Test(convert, a_stride_of_zero_repeats)
{
    const int32_t source[] = {5, 6};
    int32_t found[6];
    convert_gather(source, (int64_t[]){3, 2}, (int64_t[]){0, 1}, 2, 4, found);
    cr_assert_arr_eq(found, ((int32_t[]){5, 6, 5, 6, 5, 6}), sizeof(found));
}

Test(convert, dense_and_empty_tensors)
{
    const int32_t source[] = {1, 2, 3, 4};
    int32_t found[4] = {0};
    convert_gather(source, (int64_t[]){2, 2}, NULL, 2, 4, found);
    cr_assert_arr_eq(found, source, sizeof(source));
    memset(found, 0, sizeof(found));
    convert_gather(source, (int64_t[]){2, 0}, (int64_t[]){1, 1}, 2, 4, found);
    convert_scatter(source, (int64_t[]){0, 2}, NULL, 2, 4, found);
    cr_assert_arr_eq(found, ((int32_t[4]){0}), sizeof(found));
}
