// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "reference/product.h"

#include <string.h>

// Values `piece` of a row in the device's type: themselves, or a copy in `scratch`.
static const real *reals(struct value_row row, struct arithmetic_piece piece, real *scratch)
{
#if ARITHMETIC_BITS == 32
    if (!row.is_half) {
        return (const float *)row.data + piece.begin;
    }
#endif
    for (size_t i = piece.begin; i < piece.end; i++) {
        scratch[i - piece.begin] = value_read(row, (ptrdiff_t)i);
    }
    return scratch;
}

void PRECISE(product_compute)(const struct product *product, real (*sums)[ARITHMETIC_LANES])
{
    const size_t terms = product->term_count;
    real panel[ARITHMETIC_CHUNK][ARITHMETIC_LANES], scratch[ARITHMETIC_CHUNK];

    memset(sums, 0, product->row_count * sizeof(*sums));
    for (size_t index = 0; index * ARITHMETIC_CHUNK < terms; index++) {
        const struct arithmetic_piece piece =
            arithmetic_piece(product->order, terms, ARITHMETIC_CHUNK, index);
        const size_t count = piece.end - piece.begin;

        product->pack(product->source, piece, panel);
        for (size_t r = 0; r < product->row_count; r++) {
            const real *row = reals(product->rows[r], piece, scratch);

            arithmetic_products(product->order, row, (const real(*)[ARITHMETIC_LANES])panel, count,
                                sums[r]);
        }
    }
}
