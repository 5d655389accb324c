// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fast/blocks.h"

#include <tapml/tensor.h>

#include <stddef.h>

// Dot products of rows with rows: what `linear`, `linear_experts` and the scores of `attention` are
// made of.
enum {
    PRODUCT_BATCH = 132, // Rows of x that a call takes at most; a multiple of the rows of a tile.
};

struct product {
    size_t term_count; // Of each sum.
    size_t weight_count, row_count;
    uint32_t dtype;           // Of the weights: f32, f16, bf16; u8: in blocks.
    const void *weights;      // The first row of them, at any address,
    ptrdiff_t weight_step;    // and bytes from one to the next.
    struct blocks blocks;     // Or their blocks.
    const float *const *rows; // Of x.
    float *const *y;          // One for each row of x.
};

// y[r][n] = sum over k of rows[r][k] * weights[n][k]. The order of a sum depends on its length, and
// where weights are in blocks on whether there is one row of x: else the bits are the same for any
// number of rows and weights, and for any other split of them into calls.
void LEVEL(product_compute)(const struct product *product);
