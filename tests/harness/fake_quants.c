// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/fake_quants.h"

#include <float.h>
#include <math.h>

enum { E4M3, E5M2, E2M1, I8 };
enum { NUMBERS_MAX = 256 };

const struct fake_quants_kind fake_quants_kinds[FAKE_QUANTS_KINDS] = {
    {"e4m3, given", {E4M3, 0, 0, 0, FLT_MAX, 0.013671875}},
    {"e4m3, block of 128", {E4M3, 1, 128, 1e-4, FLT_MAX, 1}},
    {"e4m3, row with bounds", {E4M3, 1, 0, 0x1p-9, 1200, 1}},
    {"e4m3, power above", {E4M3, 2, 128, 1e-4, FLT_MAX, 1}},
    {"e4m3, power of", {E4M3, 3, 32, 0, FLT_MAX, 1}},
    {"e5m2, row", {E5M2, 1, 0, 0, FLT_MAX, 1}},
    {"e2m1, scaled", {E2M1, 4, 16, 0, FLT_MAX, 224.25}},
    {"e2m1, divided", {E2M1, 5, 16, 0, FLT_MAX, 0.0043}},
    {"e2m1, power of", {E2M1, 3, 32, 0, FLT_MAX, 1}},
    {"i8, given", {I8, 0, 0, 0, FLT_MAX, 0.75}},
    {"i8, row", {I8, 1, 0, 0, FLT_MAX, 1}},
    {"i8, block of 48", {I8, 1, 48, 0, FLT_MAX, 1}},
};

// -- Formats -------------------------------------------------------------------------------------

static const struct {
    int digits, exponent_least, codes; // Codes of one sign.
    double divisor;
    int exponent_most;
} formats[] = {
    {3, -6, 127, 448, 8}, {2, -14, 124, 57344, 15}, {1, 0, 8, 6, 2}, {0, 0, 128, 127.5, 6}};

// What a code without its sign stands for.
static double number_of(int format, int code)
{
    const int scale = 1 << formats[format].digits;
    const int exponent = code / scale;

    if (format == I8) {
        return code;
    }
    return exponent == 0 ? ldexp((double)code / scale, formats[format].exponent_least)
                         : ldexp(1 + (double)(code % scale) / scale,
                                 formats[format].exponent_least + exponent - 1);
}

// Walks the list: the nearest number, and of two the one whose code is even.
static double nearest(int format, double value)
{
    const int codes = formats[format].codes + (format == I8 && value < 0);
    const double size = fmin(fabs(value), number_of(format, codes - 1));
    int best = 0;

    for (int code = 1; code < codes; code++) {
        const double distance = fabs(number_of(format, code) - size);
        const double least = fabs(number_of(format, best) - size);

        if (distance < least || (distance == least && code % 2 == 0)) {
            best = code;
        }
    }
    return copysign(number_of(format, best), value);
}

// -- Scales --------------------------------------------------------------------------------------

static double f32(double value)
{
    return (double)(float)value;
}

// The largest power of two that is not above a value.
static double power_at(double value)
{
    double power = 0x1p-200;

    while (power * 2 <= value) {
        power *= 2;
    }
    return power;
}

static double scale_of(const struct fake_quants *op, double largest)
{
    const double divisor = formats[op->format].divisor, factor = f32(op->factor);
    const double magnitude = fmin(fmax(largest, f32(op->low)), f32(op->high));
    const double share = f32(magnitude / divisor);
    const double edge = 2 - ldexp(1, -formats[op->format].digits - 1);

    switch (op->scaling) {
    case 0:
        return factor;
    case 1:
        return share;
    case 2:
        return power_at(share) < share ? 2 * power_at(share) : power_at(share);
    case 3:
        return ldexp(power_at(magnitude) * (magnitude >= edge * power_at(magnitude) ? 2 : 1),
                     -formats[op->format].exponent_most);
    case 4:
        return f32(nearest(E4M3, f32(factor * share)) / factor);
    default:
        return f32(nearest(E4M3, f32(magnitude / f32(divisor * factor))) * factor);
    }
}

static void expect_block(const struct fake_quants *op, size_t count, const double *x, double *y)
{
    double largest = 0;

    for (size_t i = 0; i < count; i++) {
        largest = fmax(largest, fabs(x[i]));
    }
    const double scale = scale_of(op, largest);

    for (size_t i = 0; i < count; i++) {
        const double held =
            scale < 0x1p-100 ? 0 : f32(nearest(op->format, f32(x[i] / scale)) * scale);

        y[i] = copysign(held, x[i]);
    }
}

void fake_quants_expect(
    const struct fake_quants *op, size_t count, size_t width, const double *x, double *y)
{
    const size_t block = op->block > 0 ? op->block : width;

    for (size_t row = 0; row < count; row++) {
        for (size_t at = 0; at < width; at += block) {
            const size_t begin = row * width + at;

            expect_block(op, width - at < block ? width - at : block, x + begin, y + begin);
        }
    }
}

// -- Values --------------------------------------------------------------------------------------

static double random_at(size_t i)
{
    return (double)((i * 2654435761U) % 20011) / 10000 - 1;
}

// Halfway between two numbers of a format, with a scale that is exact where the block's largest is
// that of the format.
static double tie(const struct fake_quants *op, size_t i)
{
    const int codes = formats[op->format].codes;
    const int code = (int)(i * 7 % (size_t)(codes - 1));
    const double most = op->format == I8 ? 127.5 : number_of(op->format, codes - 1);
    const double half = (number_of(op->format, code) + number_of(op->format, code + 1)) / 2;

    return i == 0 ? most : i % 2 == 0 ? half : -half;
}

static double value_at(const struct fake_quants *op, size_t kind, size_t i)
{
    switch (kind % 10) {
    case 1:
        return tie(op, i);
    case 2:
        return tie(op, i) * 0.0625;
    case 3:
        return i == 5 ? -3000 : random_at(i);
    case 4:
        return i % 2 == 0 ? 0.0 : -0.0;
    case 5:
        return random_at(i) * 0x1p-98;
    case 6:
        return random_at(i) * 0x1p-130;
    case 7:
        return random_at(i) * 0x1p120;
    case 8:
        return i == 0 ? 1.75 : i == 1 ? -1.9375 : random_at(i) * 0.875;
    case 9:
        return random_at(i) * 0x1p-12;
    default:
        return random_at(i);
    }
}

void fake_quants_fill(const struct fake_quants *op, size_t count, size_t width, double *x)
{
    const size_t block = op->block > 0 ? op->block : width;
    size_t kind = 0;

    for (size_t row = 0; row < count; row++) {
        for (size_t at = 0; at < width; at += block, kind++) {
            for (size_t i = at; i < width && i < at + block; i++) {
                x[row * width + i] = f32(value_at(op, kind, i - at));
            }
        }
    }
}
