// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stddef.h>

// tapml.fake_quantise by its page alone: the numbers of each format as a list, and each operation
// of f32 as one of doubles that is rounded.
struct fake_quants {
    int format, scaling;
    size_t block; // 0 is the row.
    double low, high, factor;
};

// The expected values of `count` rows of `width` values.
void fake_quants_expect(
    const struct fake_quants *op, size_t count, size_t width, const double *x, double *y);

// Every way of scaling that a format is published with, and what it is called.
struct fake_quants_kind {
    const char *name;
    struct fake_quants op;
};

enum { FAKE_QUANTS_KINDS = 12 };
extern const struct fake_quants_kind fake_quants_kinds[FAKE_QUANTS_KINDS];

// Fills rows with what is hard to round, another kind of values in each block: random ones, ties of
// numbers of each format, one that stands out, zeros of both signs, what is tiny, subnormal or
// huge, magnitudes at the edge of a power of two. All are finite.
void fake_quants_fill(const struct fake_quants *op, size_t count, size_t width, double *x);
