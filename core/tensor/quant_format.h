// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The op `fake_quantise`, version 1, as those need it who add it to a graph or know how it fails:
// its parameters, and the numbers that its formats have. docs/quantised.md says what they are.
#pragma once

#include <tapml/op.h>

#include <stdint.h>

// The parameters with numbers.
enum {
    QUANT_FORMAT_BLOCK = 1,
    QUANT_FORMAT_FORMAT,
    QUANT_FORMAT_SCALING,
    QUANT_FORMAT_LOW,
    QUANT_FORMAT_HIGH,
    QUANT_FORMAT_FACTOR
};

// Parameter `format`.
enum quant_format_name {
    QUANT_FORMAT_E4M3,
    QUANT_FORMAT_E5M2,
    QUANT_FORMAT_E2M1,
    QUANT_FORMAT_I8,
};

// Parameter `scaling`: how a scale follows from the largest magnitude of a block.
enum quant_format_scaling {
    QUANT_FORMAT_GIVEN,       // It is `factor`.
    QUANT_FORMAT_QUOTIENT,    // Magnitude / the largest number of the format.
    QUANT_FORMAT_POWER_ABOVE, // The power of two that is not below that.
    QUANT_FORMAT_POWER_OF,    // The power of two of the rounded magnitude.
    QUANT_FORMAT_SCALED,      // An 8-bit float of factor * quotient, divided by the factor.
    QUANT_FORMAT_DIVIDED,     // An 8-bit float of quotient / factor, times the factor.
};

struct quant_format {
    int is_whole;       // Whole numbers, not floats.
    int digits;         // Behind the first.
    int least_exponent; // Of a number with all digits.
    double most;        // The largest number of both signs.
    double divisor;     // By which the largest magnitude of a block is divided.
};

// Returns the format of a number that the op's domain has. It is constant. [any]
const struct quant_format *quant_format_get(int64_t format);

// Whether this is the op.
int quant_format_is_op(const tapml_op *op);

// The distance of numbers of a format around a magnitude.
double quant_format_step(const struct quant_format *format, double magnitude);

// The number of a format that is nearest to a finite value, of two as near the even one; the
// largest where it is beyond that.
double quant_format_round(const struct quant_format *format, double value);
