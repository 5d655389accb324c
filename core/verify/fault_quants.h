// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What a wrong platform would make of quantised inputs: the outputs of the op `fake_quantise` with
// another rounding, or with scales of other blocks. For the injector, verify/fault.h.
//
// Scales are computed here in double: they corrupt an output, and expect none.
#pragma once

#include <tapml/op.h>

#include <stdint.h>

// The attributes of a call.
struct fault_quants {
    int64_t block, format, scaling;
    double low, high, factor;
    uint64_t count, width; // Values, and those of a row; both are at least 1.
};

// Whether blocks have scales of their own, by the argument `scaling` of a call.
int fault_quants_has_scales(int64_t scaling);

// Reads the attributes from the arguments of a call of the op.
struct fault_quants fault_quants_read(const tapml_value *args, uint64_t count, uint64_t width);

// Writes what the values `x` become if quants are cut off instead of rounded.
void fault_quants_truncate(const struct fault_quants *quants, const double *x, double *out_y);

// Gives each block of `y`, which the op has made of `x`, the scale of the next one, and the last
// one that of the first; or, if `is_reversed`, the scales of all blocks in the opposite order.
void fault_quants_move_scales(const struct fault_quants *quants,
                              int is_reversed,
                              const double *x,
                              double *y);

// The same for `count` blocks as a state has them, of `step` bytes, which begin with their scale.
void fault_quants_move_stored(unsigned char *blocks,
                              uint64_t step,
                              uint64_t count,
                              int is_reversed);

// Cuts off what was rounded to quant `index` of such blocks of `values` values, by the scale that
// its block has.
void fault_quants_truncate_stored(
    unsigned char *blocks, uint64_t step, uint64_t values, uint64_t index, float value);

// Returns the f16 next to `value` on the side of zero.
uint16_t fault_quants_truncate_half(float value);
