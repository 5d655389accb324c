// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "number.h"

#include <math.h>
#include <string.h>

enum {
    HALF_BIAS = 15,
    HALF_DIGITS = 10, // Of the fraction.
    HALF_EXPONENT_MAX = 31,
    HALF_SIGN = 0x8000,
};

float number_read_half(const unsigned char *bytes)
{
    const unsigned bits = bytes[0] | (unsigned)bytes[1] << 8;
    const unsigned fraction = bits & ((1u << HALF_DIGITS) - 1);
    const int exponent = (int)(bits >> HALF_DIGITS & HALF_EXPONENT_MAX);
    const float sign = bits & HALF_SIGN ? -1.0f : 1.0f;

    if (exponent == HALF_EXPONENT_MAX) {
        return fraction != 0 ? copysignf(NAN, sign) : sign * INFINITY;
    }
    if (exponent == 0) {
        return sign * ldexpf((float)fraction, 1 - HALF_BIAS - HALF_DIGITS);
    }
    return sign * ldexpf((float)(fraction | 1u << HALF_DIGITS), exponent - HALF_BIAS - HALF_DIGITS);
}

// The bits of a magnitude that is not NaN. A fraction that is rounded up to a power of two carries
// into the exponent, which is what the sum of the two does.
static unsigned half_bits(double magnitude)
{
    int exponent = 0;

    if (magnitude >= 65520) { // Halfway between the largest f16 and the next power of two.
        return HALF_EXPONENT_MAX << HALF_DIGITS;
    }
    (void)frexp(magnitude, &exponent); // magnitude = 0.5 .. 1 times 2^exponent
    exponent += HALF_BIAS - 1;
    if (exponent < 1 || magnitude == 0) {
        return (unsigned)nearbyint(ldexp(magnitude, HALF_BIAS - 1 + HALF_DIGITS));
    }
    const double digits = ldexp(magnitude, HALF_BIAS + HALF_DIGITS - exponent);

    return ((unsigned)(exponent - 1) << HALF_DIGITS) + (unsigned)nearbyint(digits);
}

void number_write_half(float value, unsigned char *bytes)
{
    const unsigned sign = signbit(value) ? HALF_SIGN : 0;
    const unsigned bits = sign | (isnan(value) ? 0x7e00u : half_bits(fabsf(value)));

    bytes[0] = (unsigned char)bits;
    bytes[1] = (unsigned char)(bits >> 8);
}

int number_round(double value, int least, int most)
{
    const double rounded = floor(value + 0.5);

    return rounded <= least ? least : rounded >= most ? most : (int)rounded;
}

double number_extreme(const double *values, uint32_t count)
{
    double extreme = 0;

    for (uint32_t i = 0; i < count; i++) {
        extreme = fabs(values[i]) > fabs(extreme) ? values[i] : extreme;
    }
    return extreme;
}

double number_inverse(double value)
{
    return value != 0 ? 1 / value : 0;
}
