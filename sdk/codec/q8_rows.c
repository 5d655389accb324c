// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// tapml.q8_rows/1: of states. A scale, f32, and quants of 8 bits with a sign in one piece, so that
// rows can be appended.
#include "module.h"
#include "number.h"

#include <math.h>
#include <string.h>

enum { VALUES = 32, MOST = 127 };

// Below it a block is zero: what is left of a value is then a normal number in every step.
static const float SCALE_LEAST = 0x1p-100f;

static const tapml_span pieces =
    MODULE_SPAN("blocks", TAPML_U8, sizeof(float) + VALUES, MODULE_WORDS_ALIGN);
static const tapml_span *const spans[] = {&pieces};
static const tapml_encoding encoding = MODULE_ENCODING(TAPML_ENCODING_Q8_ROWS, VALUES, spans);

static void
read(const struct codec *codec, const unsigned char *const *block, struct codec_block *out_block)
{
    out_block->group_values = VALUES;
    out_block->has_mins = 0;
    memcpy(out_block->scales, block[0], sizeof(float));
    for (uint32_t i = 0; i < VALUES; i++) {
        out_block->quants[i] = (float)(int8_t)block[0][sizeof(float) + i];
    }
}

// The largest magnitude over 127, with the 11 digits of an f16: so its products with quants are
// exact in f32, and what is nearest is the same however it is computed.
static float scale_of(const double *values)
{
    for (uint32_t i = 0; i < VALUES; i++) {
        if (!isfinite(values[i])) {
            return NAN;
        }
    }
    float scale = (float)fabs(number_extreme(values, VALUES)) * (1.0f / MOST);
    uint32_t bits = 0;

    memcpy(&bits, &scale, sizeof(bits));
    bits = (bits + 0xfffu + (bits >> 13 & 1u)) & ~0x1fffu;
    memcpy(&scale, &bits, sizeof(scale));
    return scale < SCALE_LEAST ? 0 : scale;
}

static void write(const struct codec *codec, const double *values, unsigned char *const *out_block)
{
    static const uint32_t nan_bits = 0x7fc00000u;
    const float scale = scale_of(values);
    unsigned char *quants = out_block[0] + sizeof(scale);

    memcpy(out_block[0], isnan(scale) ? (const void *)&nan_bits : &scale, sizeof(scale));
    for (uint32_t i = 0; i < VALUES; i++) {
        // The quotient of doubles is a tie only where the exact one is.
        const double quant = scale > 0 ? nearbyint(values[i] / (double)scale) : 0;

        quants[i] = (unsigned char)(int)quant;
    }
}

const struct codec codec_q8_rows = {
    .encoding = &encoding,
    .read = read,
    .write = write,
    .takes_all = 1,
};
