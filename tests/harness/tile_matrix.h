// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/operand.h"

// A matrix in tiles, each with a scale of another size: scales of zero and subnormal ones among
// them.
struct tile_matrix {
    uint32_t index; // Of the encoding (codec_tiles_at).
    size_t rows, columns;
    double *drawn;  // For an operand of OPERAND_TILES(index): what its tiles are made of,
    double *values; // and what they hold. Dense.
};

// Makes the matrix of extents and an index that are set. Always the same for a `seed`.
void tile_matrix_init(struct tile_matrix *matrix, uint64_t seed);
void tile_matrix_release(struct tile_matrix *matrix);

// Returns the rows of `x`, of which there are `tokens`, times the matrix, as linear has it; to be
// freed.
double *tile_matrix_product(const struct tile_matrix *matrix,
                            size_t tokens,
                            int transposed,
                            const double *x);

// Reads what the tiles of an encoding hold that are made of `drawn`, to be freed.
double *tile_matrix_values(uint32_t index, size_t rows, size_t columns, const double *drawn);
