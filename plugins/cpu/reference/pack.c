// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "reference/product.h"

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
