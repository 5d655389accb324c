// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Arithmetic on shapes and strides, with every overflow checked. Strides count elements.
#pragma once

#include "base/status.h"

#include <tapml/tensor.h>

enum { SHAPE_RANK_MAX = TAPML_MAX_RANK };

// Elements of a shape: the product of the extents. TAPML_INVALID where one is negative or the
// product does not fit.
tapml_status shape_count(const int64_t *shape, uint32_t rank, int64_t *out_count) STATUS_USED;

// The strides of the dense layout, last axis fastest.
void shape_dense_strides(const int64_t *shape, uint32_t rank, int64_t *out_stride);

// Whether `stride` (NULL is dense) is the dense layout; axes of extent 1 do not count.
int shape_is_dense(const int64_t *shape, const int64_t *stride, uint32_t rank);

// Elements from the first to behind the last one reached by the strides: 0 for an empty shape.
// TAPML_INVALID where it does not fit. Strides are not negative.
tapml_status shape_span(const int64_t *shape,
                        const int64_t *stride,
                        uint32_t rank,
                        int64_t *out_elements) STATUS_USED;

// "[3, 4]", cut where `size` is too small.
void shape_text(const int64_t *shape, uint32_t rank, char *out_text, size_t size);
