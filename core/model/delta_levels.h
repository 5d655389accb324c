// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The body of a change of which at most two of four neighbours in a row stay, as few bits each
// (model/delta_codec.h, kinds 24q2 and 24q4). With b bits a value is
//
//   fine = base + scale * level,  level = 2 c + 1 - 2^b,  c of b bits,
//
// that is an odd number: zero is what does not stay. A scale is for DELTA_LEVELS_BLOCK values of a
// row. In the body stand the scales in bf16, row by row; a bit for each value, whether it stays;
// and c of those that do, the first one in the lowest bits.
#pragma once

#include "base/status.h"
#include "model/delta_form.h"

#include <stdint.h>

enum { DELTA_LEVELS_GROUP = 4, DELTA_LEVELS_STAY = 2, DELTA_LEVELS_BLOCK = 128 };

// The bits of a value that stays: 2 or 4; 0 of other kinds.
int delta_levels_bits(enum delta_kind kind);

// Scales of a row.
uint64_t delta_levels_blocks(uint64_t columns);

// A scale as it is kept.
float delta_levels_round_scale(double scale);

// The odd level that is nearest to `value`, of the least and largest ones those that there are.
int8_t delta_levels_nearest(int bits, double value);

uint64_t delta_levels_bytes(const struct delta_form *form);

// Makes a body of scales, for each row and block, and levels, for each value, 0 where it does not
// stay. Sets the form's `kept`. The body has room for two values of four.
void delta_levels_pack(struct delta_form *io_form,
                       const float *scales,
                       const int8_t *levels,
                       unsigned char *out_body);

// The changes of a body that is one as blocks of 32 values, gguf.q5_0/1 of levels of 4 bits and
// gguf.q4_0/1 of those of 2: the same levels, with scales that are DELTA_LEVELS_UNIT times as
// large. They fit where rows are complete blocks and all scales have a form that devices take.
enum { DELTA_LEVELS_UNIT = 4096 };
int delta_levels_fit_blocks(const struct delta_form *form, const unsigned char *body);
void delta_levels_write_blocks(const struct delta_form *form,
                               const unsigned char *body,
                               unsigned char *out_blocks);

// As delta_codec_apply.
tapml_status delta_levels_apply(const struct delta_form *form,
                                const void *base,
                                const unsigned char *body,
                                void *out_fine) STATUS_USED;
