// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Matrix products that a driver takes from the kernels of sdk/gpu: those of a vendor's library or
// of the device's matrix units. A driver that has none leaves both functions of the table NULL.
//
//     y[r][o] = factor * sum over k of x[r][k] * w[o][k], + y[r][o] where it goes on
//
// sdk/gpu offers the prefill of `linear`: plain weights as they are stored, and more than a few
// rows. x and w have one type, y is f32. Where the activations have another type than the weight,
// sdk/gpu writes them as a sum of parts of the weight's type first (products.h), and asks for a
// product of each part, the least one first. Sums that need a bias, a scale or a rounding go to a
// buffer of sdk/gpu, which a kernel reads.
//
// What a driver promises:
//
// - GPU_PRODUCT_F32: f32 arithmetic. Nothing is rounded to a smaller type: no TF32.
// - Else: a product of two values is exact, and sums are f32. A unit that cuts sums instead of
//   rounding them does so over at most about a thousand products; such sums are then added as f32.
//   In a product that is `is_minor`, chains may be as long as the unit likes.
// - The same product on matrices that are aligned alike has the same bits each time.
#ifndef TAPML_GPU_PRODUCT_H
#define TAPML_GPU_PRODUCT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct driver_buffer;

enum gpu_product_type { GPU_PRODUCT_F32, GPU_PRODUCT_F16, GPU_PRODUCT_BF16 };

// Rows of a matrix, which do not overlap.
struct gpu_matrix {
    struct driver_buffer *buffer;
    uint64_t at;     // Of the first element, counted in elements.
    uint64_t stride; // From row to row, in elements. At least the length of a row.
};

struct gpu_product {
    enum gpu_product_type type;    // Of x and w.
    struct gpu_matrix x, w, y;     // Of `rows`, `outputs` and `rows` rows. y lies in neither other.
    uint32_t rows, outputs, width; // None is zero.
    float factor;                  // A power of two.
    int goes_on;                   // Adds to what y has; else y is only written.
    int is_minor;                  // Its terms are below 1/128 of those of the one that follows.
    uint64_t number;               // Of the op call, for `core->blame`.
};

#ifdef __cplusplus
}
#endif

#endif
