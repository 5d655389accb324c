// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/arithmetic.h"
#include "reference/value.h"

// A small product of matrices, on the stack: some rows against ARITHMETIC_LANES columns. `linear`
// is made of these, and so are the scores of `attention`.
enum { PRODUCT_ROWS = 16 };

struct product {
    enum reference_order order;
    size_t term_count; // Of each sum.
    size_t row_count;  // At most PRODUCT_ROWS.
    struct value_row rows[PRODUCT_ROWS];

    // Writes terms `piece` of all columns, the first of the piece into panel[0]; zeros into columns
    // that there are not.
    void (*pack)(const void *source,
                 struct arithmetic_piece piece,
                 real (*panel)[ARITHMETIC_LANES]);
    const void *source;
};

// Outputs `first` .. `first + count` of a layer with weights `w`, as the source of a product whose
// columns are rows of `w`, or columns of it where `transposed`.
struct product_columns {
    const tapml_tensor *w;
    size_t first, count;
    bool transposed;
};

// The `pack` of such a source.
void PRECISE(product_pack)(const void *source,
                           struct arithmetic_piece piece,
                           real (*panel)[ARITHMETIC_LANES]);

// sums[r][lane] = sum over k of rows[r][k] * column lane [k]. A column is read once for all rows.
void PRECISE(product_compute)(const struct product *product, real (*sums)[ARITHMETIC_LANES]);
