// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Floats of 8 and of 4 bits, and powers of two, by table.
#pragma once

#include <stdint.h>

enum { TINY_COUNT = 256, TINY_SIGN = 128, TINY_FOUR_COUNT = 16 };

// What a byte stands for, or four bits.
extern const float tiny_e4m3[TINY_COUNT], tiny_e5m2[TINY_COUNT], tiny_e2m1[TINY_FOUR_COUNT];

// Returns 2^(byte - 127), or NaN for 255.
float tiny_power(unsigned byte);

// Returns the index of the number nearest to `magnitude` among the first `count` of a table, which
// grow; of two as near the even one.
unsigned tiny_nearest(const float *table, unsigned count, float magnitude);
