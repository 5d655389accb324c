// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Blocks of 32 values: a scale times a quant of four or five bits, plus a min that they share.
//
// In a piece: the scale, the min unless quants are centred, the fifth bits, the low four bits in
// halves. In spans: the low four bits in pairs, the fifth bits, the scales, the mins.
#pragma once

#include "module.h"

enum {
    AFFINE_VALUES = 32,
    AFFINE_LOW_BYTES = AFFINE_VALUES / 2,   // Four bits of each quant,
    AFFINE_FIFTH_BYTES = AFFINE_VALUES / 8, // and the fifth.
};

// The `form` of a codec whose functions are these.
struct affine_form {
    int bits;       // Of a quant, 4 or 5.
    int is_centred; // Half of the quants' range stands for zero, and there is no min.
};

// Of blocks in pieces.
void affine_read_piece(const struct codec *codec,
                       const unsigned char *const *spans,
                       struct codec_block *out_block);
void affine_write_piece(const struct codec *codec,
                        const double *values,
                        unsigned char *const *out_spans);
int affine_spread_piece(const struct codec *codec,
                        const unsigned char *const *spans,
                        unsigned char *const *out_spans);

// Of blocks in spans. Written are those of a centred block, with the min that stands for its
// centre.
void affine_read_spans(const struct codec *codec,
                       const unsigned char *const *spans,
                       struct codec_block *out_block);
void affine_write_spans(const struct codec *codec,
                        const double *values,
                        unsigned char *const *out_spans);
