// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// An animal whose linear quantises what goes in, in blocks of 32: the largest magnitude becomes
// ZOO_MOST. It multiplies by the inverse of a scale, and rounds ties away, as kernels do.
#pragma once

#include <math.h>
#include <stdint.h>

enum { ZOO_BLOCK = 32 };

static inline void quantise(float *values, int64_t count)
{
    float most = 0;

    for (int64_t i = 0; i < count; ++i) {
        most = fabsf(values[i]) > most ? fabsf(values[i]) : most;
    }
    const float inverse = most > 0 ? ZOO_MOST / most : 0;

    for (int64_t i = 0; i < count; ++i) {
        values[i] = roundf(values[i] * inverse) * (most / ZOO_MOST);
    }
}

#define ZOO_ROUND(values, count) quantise(values, count)
#define ZOO_SUPPORTS_DEED(name)                                                                    \
    if (!takes(op, args, n_args, answer)) {                                                        \
        return TAPML_OK;                                                                           \
    }
#define ZOO_OP_FILE "zoo_linear.h"
#include "zoo.h"
