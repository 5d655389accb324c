// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The operators of a decoder in plain C, each in one form: tapml.rms_norm, linear, rope,
// state_append, attention, add, mul, silu, copy.
#pragma once

#include <tapml/op.h>

// Why an op is not computed with these arguments, without buffers; NULL: it is. Static.
const char *kernel_obstacle(const tapml_op *op, const tapml_value *args);

// Computes an op without an obstacle, at once.
void kernel_run(const tapml_op *op, const tapml_value *args);

// Parts of kernels that fused ones share: a row of a norm, and one value of a product.
void kernel_norm_row(const tapml_value *args, int64_t row, float *out_row);
float kernel_product(const tapml_value *args, const float *row, int64_t output);
