// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Numbers in blocks: little-endian f16 at any address, and rounding to whole numbers.
#pragma once

#include <stdint.h>

// Returns the f16 at `bytes`.
float number_read_half(const unsigned char *bytes);

// Writes the f16 nearest to `value`, ties to even, to `bytes`.
void number_write_half(float value, unsigned char *bytes);

// Returns the nearest whole number of `least` .. `most`; halves go up.
int number_round(double value, int least, int most);

// Returns the value of the largest magnitude among `count`, with its sign.
double number_extreme(const double *values, uint32_t count);

// Returns 1 / `value`, or 0 for 0.
double number_inverse(double value);
