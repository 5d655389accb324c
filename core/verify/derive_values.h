// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The numbers that derived cases (verify/derive) are made of.
#pragma once

#include "base/random.h"

#include <stdint.h>

enum derive_values {
    DERIVE_VALUES_POSITIVE, // 0 .. 1
    DERIVE_VALUES_UNIFORM,  // -1 .. 1
    DERIVE_VALUES_ZERO,     // Of both signs.
    DERIVE_VALUES_TINY,
    DERIVE_VALUES_LARGE,
    DERIVE_VALUES_EQUAL,
    DERIVE_VALUES_OUTLIER, // -1 .. 1, and in each row one that stands out.
    DERIVE_VALUES_TIES, // Halfway between two numbers of f16, or two quants (verify/derive_quants).
    DERIVE_VALUES_SPREAD,     // All magnitudes around those of the model are as likely.
    DERIVE_VALUES_CRITICAL,   // Near a value at which the formula branches: at it, and at all
                              // distances from it.
    DERIVE_VALUES_SORTED,     // -1 .. 1, ascending in one row, descending in the next one.
    DERIVE_VALUES_ALTERNATING // Of one sign, then of the other.
};

enum { DERIVE_VALUES_COUNT = DERIVE_VALUES_ALTERNATING + 1 };

// How a tensor is drawn.
struct derive_drawing {
    struct random *random;
    enum derive_values values;
    uint64_t width; // Values of a row.
    int is_exact;   // Of an exact op, which gets no subnormal numbers: devices may take them for 0.
    double range;   // The largest magnitude of the model, for a spread.

    // Where uniform values are, or become, blocks or tiles: so many rows and values of a row get a
    // magnitude of their own. 0 where they do not.
    uint64_t group_rows, group_values;

    const double *criticals; // Finite, for critical values: one at least.
    uint32_t critical_count;
};

// Draws `count` values of the float type `dtype` to `out_data`, which has room for them.
void derive_values_fill(const struct derive_drawing *drawing,
                        uint32_t dtype,
                        uint64_t count,
                        void *out_data);
