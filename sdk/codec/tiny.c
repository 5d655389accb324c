// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "tiny.h"

#include <math.h>
#include <string.h>

// Digits without a point, with the hidden one where the exponent is not the least; and what the
// last of them is, in terms of the least. All is exact.
#define WHOLE(b, e, m)                                                                             \
    ((float)(((b) >> (m) & (e)) != 0 ? ((b) & ((1 << (m)) - 1)) | 1 << (m)                         \
                                     : (b) & ((1 << (m)) - 1)))
#define LAST(b, e, m) ((float)(1u << (((b) >> (m) & (e)) != 0 ? ((b) >> (m) & (e)) : 1)))

// The magnitude of the low seven bits.
#define E4M3_ABS(b) ((b) == 127 ? NAN : WHOLE(b, 15, 3) * LAST(b, 15, 3) * 0x1p-10f)
#define E5M2_ABS(b)                                                                                \
    ((b) == 124 ? INFINITY : (b) > 124 ? NAN : WHOLE(b, 31, 2) * LAST(b, 31, 2) * 0x1p-17f)

// NaN has no sign.
#define E4M3(b) ((b) < 128 ? E4M3_ABS((b)&127) : (b) == 255 ? NAN : -E4M3_ABS((b)&127))
#define E5M2(b) ((b) < 128 ? E5M2_ABS((b)&127) : (b) > 252 ? NAN : -E5M2_ABS((b)&127))

#define FOUR(f, b)    f(b), f((b) + 1), f((b) + 2), f((b) + 3)
#define SIXTEEN(f, b) FOUR(f, b), FOUR(f, (b) + 4), FOUR(f, (b) + 8), FOUR(f, (b) + 12)
#define ALL(f)                                                                                     \
    SIXTEEN(f, 0), SIXTEEN(f, 16), SIXTEEN(f, 32), SIXTEEN(f, 48), SIXTEEN(f, 64), SIXTEEN(f, 80), \
        SIXTEEN(f, 96), SIXTEEN(f, 112), SIXTEEN(f, 128), SIXTEEN(f, 144), SIXTEEN(f, 160),        \
        SIXTEEN(f, 176), SIXTEEN(f, 192), SIXTEEN(f, 208), SIXTEEN(f, 224), SIXTEEN(f, 240)

const float tiny_e4m3[TINY_COUNT] = {ALL(E4M3)};
const float tiny_e5m2[TINY_COUNT] = {ALL(E5M2)};
const float tiny_e2m1[TINY_FOUR_COUNT] = {0.0f,  0.5f,  1.0f,  1.5f,  2.0f,  3.0f,  4.0f,  6.0f,
                                          -0.0f, -0.5f, -1.0f, -1.5f, -2.0f, -3.0f, -4.0f, -6.0f};

float tiny_power(unsigned byte)
{
    // The least one is subnormal.
    const uint32_t bits = byte == 0 ? 0x00400000u : byte == 255 ? 0x7fc00000u : byte << 23;
    float value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

unsigned tiny_nearest(const float *table, unsigned count, float magnitude)
{
    unsigned low = 0, high = count - 1;

    while (high - low > 1) { // table[low] <= magnitude, unless low is 0.
        const unsigned middle = low + (high - low) / 2;

        if (table[middle] <= magnitude) {
            low = middle;
        } else {
            high = middle;
        }
    }
    const double below = (double)magnitude - (double)table[low];
    const double above = (double)table[high] - (double)magnitude;

    return below < above || (below == above && low % 2 == 0) ? low : high;
}
