// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The prefill of linear by products of the driver (tapml/gpu/product.h), in place of kernels.
//
// By the types of weight and activations:
//
//   f32, f32     one product of f32
//   bf16, f32    three of bf16: the activations are three parts of eight digits, which are exact
//   bf16, f16    two of bf16, likewise
//   f16, f32     three of f16: parts of scaled rows, of eleven digits
//   f16, f16     one of f16
//   f32, f16; in blocks or tiles    none
//
// Errors. kernels/product_parts.k says what parts lose: nothing from bf16 above 2^-133; from f16
// nothing of values down to 2^-37 of their row's largest, and else less than 2^-61 of that. So a
// sum differs from the exact one by what adding in f32 costs. Matrix units cut sums off instead of
// rounding them (M. Fasi, N. Higham, M. Mikaitis, S. Pranesh, "Numerical behavior of NVIDIA tensor
// cores", PeerJ Computer Science 7:e330, 2021), which is as far as 2^-23 of the sum for each block
// of products, where rounding is 2^-24; and cutting errs to one side. Therefore chains are short
// (product.h), and what is left is of the size of the error of a loop of multiply-adds in f32.
//
// A long prompt goes in pieces of rows, so that the buffers have a fixed size; they are made by the
// first product of a device and freed with it.
#pragma once

#include "plan.h"

#include <tapml/gpu/view.h>

enum {
    // Fewer rows are left to kernels, which read the weight once, not once a part. On an H200, a
    // weight of 4096 x 4096 in bf16: a kernel takes 16 us for one row and 250 for 8, products 54
    // for
    // 9; between 1 and 8 nothing was measured.
    GPU_PRODUCTS_ROWS_MIN = 8,
    GPU_PRODUCTS_BYTES = 32 << 20,
    GPU_PRODUCTS_PIECE_MAX = 16384, // Rows of a piece.
};

// A linear over one panel of its weight, [outputs, inputs] as it is stored. `y` begins with the
// outputs of the panel.
struct gpu_products_panel {
    const tapml_tensor *x, *w, *b, *y; // b may be NULL.
    struct gpu_view xv, wv, bv, yv;
    uint32_t w_stride; // From row to row of the weight, in elements.
};

// Queues the products of a panel. TAPML_UNIMPLEMENTED, without a message, where kernels have to
// compute the whole of it; always so in a dry run.
tapml_status gpu_products_linear(struct gpu_queue *queue,
                                 tapml_call *call,
                                 const struct gpu_products_panel *panel);

// Frees the buffers.
void gpu_products_release(struct gpu_device *device);
