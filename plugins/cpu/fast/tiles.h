// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fast/vector.h"

#include <tapml/codec/tiles.h>

#include <stddef.h>

// Weights in tiles (docs/encodings.md): rows of them widened, and their products with a row of x.

// Widens values `begin` .. `begin + count` of row `row`, which is exact; `begin` is a multiple of
// 16. The same values four rows on are fetched.
void LEVEL(tiles_widen)(const struct codec_tiles *tiles,
                        const struct codec_matrix *matrix,
                        size_t row,
                        size_t begin,
                        size_t count,
                        float *values);

// y[n] = sum over k of x[k] * row `first + n`, for `row_count` rows.
void LEVEL(tiles_multiply)(const struct codec_tiles *tiles,
                           const struct codec_matrix *matrix,
                           size_t first,
                           const float *x,
                           size_t row_count,
                           float *y);
