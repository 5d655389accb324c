// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Its linear rounds what goes in to f16, and does not say so.
#include <stdint.h>
#include <string.h>

enum { ZOO_BLOCK = 32 };

// To 11 binary digits, ties to even; of values between 2^-14 and 65504.
static inline void round_half(float *values, int64_t count)
{
    for (int64_t i = 0; i < count; ++i) {
        uint32_t bits;

        memcpy(&bits, &values[i], sizeof(bits));
        bits = (bits + 0xfffu + (bits >> 13 & 1u)) & ~0x1fffu;
        memcpy(&values[i], &bits, sizeof(bits));
    }
}

#define ZOO_ROUND(values, count) round_half(values, count)
#define ZOO_SUPPORTS_DEED(name)                                                                    \
    if (!takes(op, args, n_args, answer)) {                                                        \
        return TAPML_OK;                                                                           \
    }
#define ZOO_OP_FILE "zoo_linear.h"
#include "zoo.h"
