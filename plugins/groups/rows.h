// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Tensors as rows: what the kernels of this plugin read and write. Activations are f32; the last
// axis of a row is contiguous unless the kernel asks for its stride.
#pragma once

#include <tapml/memory/object.h>

// Rows of a tensor: the product of all axes but the last. 1 for one axis.
int64_t rows_of(const tapml_tensor *tensor);

// Values of a row.
int64_t width_of(const tapml_tensor *tensor);

// Elements from one value of a row to the next.
int64_t step_of(const tapml_tensor *tensor);

// Where row `row` of a tensor of f32 begins.
float *row_at(const tapml_tensor *tensor, int64_t row);

// Value `index` of row `row` of a weight, which is plain: f32, f16 or bf16.
float weight_at(const tapml_tensor *weight, int64_t row, int64_t index);

// Whether a tensor is plain, in one panel and f32; or, a weight, of a dtype that `weight_at` reads.
int is_activation(const tapml_tensor *tensor);
int is_plain_weight(const tapml_tensor *tensor);
