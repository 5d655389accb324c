// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The inputs of a derived case of the op `fake_quantise` that are hardest to round.
#pragma once

#include "base/random.h"

#include <stdint.h>

// The attributes of the case, and how its input is drawn.
struct derive_quants {
    struct random *random;
    int64_t block, format, scaling;
    double factor;
    uint64_t width; // Values of a row.
};

// Draws `count` values of the float type `dtype` to `out_data`, which has room for them. In each
// block, whose scale is exact and unlike that of its neighbours, they lie halfway between two
// numbers of the format; some are at its end, or beyond if the scale is given, and some blocks have
// a scale of zero or next to it.
void derive_quants_fill(const struct derive_quants *drawing,
                        uint32_t dtype,
                        uint64_t count,
                        void *out_data);
