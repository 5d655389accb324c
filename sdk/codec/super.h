// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Blocks of 256 values in groups of 32, whose scales and mins are whole numbers of 6 bits times an
// f16 of the block: value = (scale * factor) * quant - (min scale * min factor).
//
// In a piece: the two f16, the factors in 12 bytes, the fifth bits (bit k of byte i is that of
// value 32 * k + i), the low four bits of 64 values at a time in halves. In spans: the low four
// bits in pairs, the fifth bits, two bytes a group with its factors, the two f16.
#pragma once

#include "module.h"

enum {
    SUPER_VALUES = 256,
    SUPER_GROUP_VALUES = 32,
    SUPER_GROUPS = SUPER_VALUES / SUPER_GROUP_VALUES,
    SUPER_SCALE_BYTES = 4,   // The two f16.
    SUPER_FACTOR_BYTES = 12, // In a piece.
    SUPER_LOW_BYTES = SUPER_VALUES / 2,
    SUPER_FIFTH_BYTES = SUPER_VALUES / 8,
};

// The `form` of a codec whose functions are these.
struct super_form {
    int bits; // Of a quant, 4 or 5.
};

// Of blocks in pieces.
void super_read_piece(const struct codec *codec,
                      const unsigned char *const *spans,
                      struct codec_block *out_block);
void super_write_piece(const struct codec *codec,
                       const double *values,
                       unsigned char *const *out_spans);
int super_spread_piece(const struct codec *codec,
                       const unsigned char *const *spans,
                       unsigned char *const *out_spans);

// Of blocks in spans.
void super_read_spans(const struct codec *codec,
                      const unsigned char *const *spans,
                      struct codec_block *out_block);
void super_write_spans(const struct codec *codec,
                       const double *values,
                       unsigned char *const *out_spans);
