// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Which values of a matrix's change stay, and as which level (model/delta_levels.h), so that the
// outputs of its product change as little as may be: optimal brain surgery, column by column.
//
// With D the change, H the second moments of the inputs x, H[i,j] = sum over calls of x_i x_j, the
// squared error of the outputs of a row d that becomes d' is (d - d') H (d - d')^T. With H^-1 = U^T
// U, U upper triangular: what column j loses, divided by U[j,j], times U[j,k], is taken from each
// column k behind it, which makes up for the loss as far as it can; of four neighbours the two stay
// whose d_j^2 / U[j,j]^2 is largest. Frantar and Alistarh, "SparseGPT" (arXiv:2301.00774) and
// "GPTQ" (arXiv:2210.17323); for changes of fine-tunes Yao and Klimovic, "DeltaZip"
// (arXiv:2312.05215).
#pragma once

#include "base/status.h"

#include <stdint.h>

struct pool;

struct delta_prune_options {
    uint64_t rows, columns;
    int bits;              // Of a level, 2 or 4.
    const double *moments; // columns x columns, symmetric; NULL: those of independent inputs.
    struct pool *pool;     // Rows are divided among its threads.
};

// Chooses levels for rows x columns values and scales for each row and block of columns. The
// `io_changes`, rows x columns and finite, are used up. Moments need not have full rank. The result
// does not depend on the number of threads. TAPML_INVALID if moments are not finite,
// TAPML_NO_MEMORY.
tapml_status delta_prune(const struct delta_prune_options *options,
                         double *io_changes,
                         float *out_scales,
                         int8_t *out_levels) STATUS_USED;

// Gives the sum over all rows of e H e^T: the squared error of the outputs by errors e of the
// weights, rows x columns. There are moments. TAPML_NO_MEMORY.
tapml_status delta_prune_effect(const struct delta_prune_options *options,
                                const double *errors,
                                double *out_effect) STATUS_USED;
