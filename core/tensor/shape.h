// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Arithmetic on shapes and strides, with every overflow checked. Strides count elements.
#pragma once

#include "base/status.h"

#include <tapml/tensor.h>

enum { SHAPE_RANK_MAX = TAPML_MAX_RANK };

// Counts the elements of a shape: the product of the extents. TAPML_INVALID if an extent is
// negative or the product does not fit into 63 bits. [any]
tapml_status shape_count(const int64_t *shape, uint32_t rank, int64_t *out_count) STATUS_USED;

// Writes the strides of the dense layout, with the last axis fastest. [any]
void shape_dense_strides(const int64_t *shape, uint32_t rank, int64_t *out_stride);

// Whether `stride` (NULL is dense) is the dense layout; axes of extent 1 are ignored. [any]
int shape_is_dense(const int64_t *shape, const int64_t *stride, uint32_t rank);

// Counts the elements from the first up to the last one that the strides reach, inclusive: 0 for an
// empty shape. TAPML_INVALID if the number does not fit into 63 bits. Strides are not negative.
// [any]
tapml_status shape_span(const int64_t *shape,
                        const int64_t *stride,
                        uint32_t rank,
                        int64_t *out_elements) STATUS_USED;

// Writes the shape as "[3, 4]", cut to `size` bytes including the zero byte. [any]
void shape_text(const int64_t *shape, uint32_t rank, char *out_text, size_t size);

// Returns the most equal parts into which both extents, of 0 or more, can be divided: their
// greatest common divisor; the other one where one is 0. [any]
int64_t shape_common_units(int64_t extent, int64_t other);
