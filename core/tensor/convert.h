// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Values between element types, and between layouts. Rounding is to nearest, ties to even; NaN
// stays NaN.
#pragma once

#include "base/status.h"

#include <tapml/tensor.h>

float convert_f16_to_f32(uint16_t bits);
uint16_t convert_f32_to_f16(float value);
float convert_bf16_to_f32(uint16_t bits);
uint16_t convert_f32_to_bf16(float value);

// `count` elements at `source` as doubles. The address need not be aligned.
void convert_to_f64(uint32_t dtype, const void *source, size_t count, double *out_values);

// `count` doubles as elements of `dtype`; integers are rounded and clamped.
void convert_from_f64(uint32_t dtype, const double *values, size_t count, void *out_target);

// Copies a strided tensor at `source` (its first element) to dense `out_target`, and back.
// `element_bytes` is 1, 2, 4 or 8; strides count elements.
void convert_gather(const void *source,
                    const int64_t *shape,
                    const int64_t *stride,
                    uint32_t rank,
                    size_t element_bytes,
                    void *out_target);
void convert_scatter(const void *source,
                     const int64_t *shape,
                     const int64_t *stride,
                     uint32_t rank,
                     size_t element_bytes,
                     void *out_target);
