// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/reference.h"
#include "reference/value.h"

#include <stddef.h>

// The arithmetic of a device: its type of number and its order of sums.
//
// The files that include this are compiled twice, with ARITHMETIC_BITS 32 and 64. What they export
// is named by PRECISE. Long sums are fed in pieces of ARITHMETIC_CHUNK terms, in the order that
// `arithmetic_piece` gives: the bits are those of one sum over all of it.
#if ARITHMETIC_BITS == 64
typedef double real;
#define PRECISE(name) name##_f64
#else
typedef float real;
#define PRECISE(name) name##_f32
#endif

enum {
    ARITHMETIC_BLOCK = 32,  // Terms in a block of REFERENCE_BLOCKED.
    ARITHMETIC_CHUNK = 256, // A multiple of it.
    ARITHMETIC_LANES = 8,   // Sums side by side: independent, so the compiler may interleave them.
};

// Terms `begin` .. `end` of a sum.
struct arithmetic_piece {
    size_t begin, end;
};

// The `index`-th piece, in the order of adding, of a sum over terms 0 .. `count` in steps of
// `length`. There are count / length of them, rounded up.
static inline struct arithmetic_piece
arithmetic_piece(enum reference_order order, size_t count, size_t length, size_t index)
{
    const size_t pieces = (count + length - 1) / length;
    const size_t begin = (order == REFERENCE_REVERSED ? pieces - 1 - index : index) * length;

    return (struct arithmetic_piece){begin, count - begin < length ? count : begin + length};
}

static inline void arithmetic_sum_chain(const real *values, size_t count, ptrdiff_t step, real *sum)
{
    for (; count > 0; count--, values += step) {
        *sum += *values;
    }
}

static inline real arithmetic_narrow(enum reference_order order, real sum)
{
    return order == REFERENCE_F16 ? value_round_f16((float)sum) : value_round_bf16((float)sum);
}

// Adds `count` values to `sum`.
static inline void
arithmetic_sum(enum reference_order order, const real *values, size_t count, real *sum)
{
    if (count == 0) {
        return;
    }
    switch (order) {
    case REFERENCE_FORWARD:
        arithmetic_sum_chain(values, count, 1, sum);
        break;
    case REFERENCE_REVERSED:
        arithmetic_sum_chain(values + count - 1, count, -1, sum);
        break;
    case REFERENCE_BLOCKED:
        for (size_t begin = 0; begin < count; begin += ARITHMETIC_BLOCK) {
            const size_t rest = count - begin;
            real block = 0;

            arithmetic_sum_chain(values + begin, rest < ARITHMETIC_BLOCK ? rest : ARITHMETIC_BLOCK,
                                 1, &block);
            *sum += block;
        }
        break;
    case REFERENCE_F16:
    case REFERENCE_BF16:
        for (size_t i = 0; i < count; i++) {
            *sum = arithmetic_narrow(order, *sum + values[i]);
        }
        break;
    }
}

static inline void arithmetic_products_chain(
    const real *a, const real (*b)[ARITHMETIC_LANES], size_t count, ptrdiff_t step, real *sums)
{
    real chains[ARITHMETIC_LANES];

    for (size_t lane = 0; lane < ARITHMETIC_LANES; lane++) {
        chains[lane] = sums[lane];
    }
    for (; count > 0; count--, a += step, b += step) {
        for (size_t lane = 0; lane < ARITHMETIC_LANES; lane++) {
            chains[lane] += *a * (*b)[lane];
        }
    }
    for (size_t lane = 0; lane < ARITHMETIC_LANES; lane++) {
        sums[lane] = chains[lane];
    }
}

// Adds a[k] * b[k][lane], for k in 0 .. `count`, to sums[lane].
static inline void arithmetic_products(enum reference_order order,
                                       const real *a,
                                       const real (*b)[ARITHMETIC_LANES],
                                       size_t count,
                                       real *sums)
{
    if (count == 0) {
        return;
    }
    switch (order) {
    case REFERENCE_FORWARD:
        arithmetic_products_chain(a, b, count, 1, sums);
        break;
    case REFERENCE_REVERSED:
        arithmetic_products_chain(a + count - 1, b + count - 1, count, -1, sums);
        break;
    case REFERENCE_BLOCKED:
        for (size_t begin = 0; begin < count; begin += ARITHMETIC_BLOCK) {
            const size_t rest = count - begin;
            real block[ARITHMETIC_LANES] = {0};

            arithmetic_products_chain(a + begin, b + begin,
                                      rest < ARITHMETIC_BLOCK ? rest : ARITHMETIC_BLOCK, 1, block);
            for (size_t lane = 0; lane < ARITHMETIC_LANES; lane++) {
                sums[lane] += block[lane];
            }
        }
        break;
    case REFERENCE_F16:
    case REFERENCE_BF16:
        for (size_t k = 0; k < count; k++) {
            for (size_t lane = 0; lane < ARITHMETIC_LANES; lane++) {
                sums[lane] = arithmetic_narrow(order, sums[lane] + a[k] * b[k][lane]);
            }
        }
        break;
    }
}
