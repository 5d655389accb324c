// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fast/vector.h"

#include <stddef.h>

// Dot products of rows with rows: what `linear`, `linear_experts` and the scores of `attention` are
// made of.
enum {
    PRODUCT_BATCH = 132, // Rows of x that a call takes at most; a multiple of the rows of a tile.
};

struct product {
    size_t term_count; // Of each sum.
    size_t weight_count, row_count;
    uint32_t dtype;        // Of the weights, at any address: f32, f16, bf16; u8: quants of blocks.
    const void *weights;   // The first row of them,
    ptrdiff_t weight_step; // and bytes from one to the next.
    const unsigned char *scales, *mins; // Of blocks, in f16; no mins: NULL (fast/blocks.h).
    const float *const *rows;           // Of x.
    float *const *y;                    // One for each row of x.
};

// y[r][n] = sum over k of rows[r][k] * weights[n][k]. The order of a sum depends on its length, and
// on whether weights are in blocks: the bits are the same for any number of rows and weights, and
// for any other split of them into calls.
void LEVEL(product_compute)(const struct product *product);
