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

static void pack_rows(const struct product_columns *columns,
                      struct arithmetic_piece piece,
                      real (*panel)[ARITHMETIC_LANES])
{
    const size_t count = piece.end - piece.begin;
    float row[ARITHMETIC_CHUNK] = {0};

    for (size_t lane = 0; lane < ARITHMETIC_LANES; lane++) {
        if (lane < columns->count) {
            value_panel_get(columns->w, columns->first + lane, piece.begin, count, row);
        }
        for (size_t k = 0; k < count; k++) {
            panel[k][lane] = lane < columns->count ? row[k] : 0;
        }
    }
}

static void pack_columns(const struct product_columns *columns,
                         struct arithmetic_piece piece,
                         real (*panel)[ARITHMETIC_LANES])
{
    for (size_t k = piece.begin; k < piece.end; k++) {
        float row[ARITHMETIC_LANES] = {0};

        value_panel_get(columns->w, k, columns->first, columns->count, row);
        for (size_t lane = 0; lane < ARITHMETIC_LANES; lane++) {
            panel[k - piece.begin][lane] = row[lane];
        }
    }
}

void PRECISE(product_pack)(const void *source,
                           struct arithmetic_piece piece,
                           real (*panel)[ARITHMETIC_LANES])
{
    const struct product_columns *columns = source;

    if (columns->transposed) {
        pack_columns(columns, piece, panel);
    } else {
        pack_rows(columns, piece, panel);
    }
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
