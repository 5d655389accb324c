// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What values of f32 lose in a reduced dtype: beyond its range they become infinite, below its
// normal numbers they lose precision or become zero.
//
// Any thread; nothing is kept and nothing fails.
#pragma once

#include "tensor/activation.h"

// Of values that were added up. Zeroed to begin with.
struct range_loss {
    uint64_t count;       // Finite values. Others, such as those of masks, stay what they are.
    uint64_t beyond;      // That become infinite.
    uint64_t below;       // That are not 0 and below the least normal number,
    uint64_t zeroed;      // and those of these that become 0.
    double largest;       // Magnitude.
    double value_squares; // Sums over all values that do not become infinite: of value^2,
    double error_squares; // and of (rounded - value)^2.
};

// Adds `count` values.
void range_add(struct range_loss *loss,
               enum activation activation,
               const float *values,
               size_t count);

// Adds what was added to `more`.
void range_merge(struct range_loss *loss, const struct range_loss *more);

// The root of error squares over value squares; 0 if all values are 0. It is at most the
// `rounding` of the dtype (tensor/activation.h) if all values are normal numbers in it.
double range_relative(const struct range_loss *loss);
