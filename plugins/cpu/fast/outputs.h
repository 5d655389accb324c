// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fast/product.h"

// Some outputs of a linear, for some rows: what `linear` and `linear_experts` divide among threads.
enum { OUTPUTS_MAX = 128 };

struct outputs {
    const tapml_tensor *w, *b; // [out, in], also in panels; [out] or NULL.
    size_t in;
    size_t first, count; // At most OUTPUTS_MAX.
    size_t row_count;    // At most PRODUCT_BATCH.
    const float *rows[PRODUCT_BATCH];
    float *y[PRODUCT_BATCH]; // The rows of the output, from output 0 on.
};

// Computes outputs `first` .. `first + count` of each row.
void LEVEL(outputs_compute)(const struct outputs *outputs);
