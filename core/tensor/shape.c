// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "tensor/shape.h"

#include <stdio.h>

tapml_status shape_count(const int64_t *shape, uint32_t rank, int64_t *out_count)
{
    int is_empty = 0;
    for (uint32_t i = 0; i < rank; ++i) {
        if (shape[i] < 0) {
            return status_fail(TAPML_INVALID,
                               "expected an extent of at least 0 on axis %u, found %lld", i,
                               (long long)shape[i]);
        }
        is_empty = is_empty || shape[i] == 0;
    }
    int64_t count = is_empty ? 0 : 1;
    for (uint32_t i = 0; i < rank && !is_empty; ++i) {
        if (__builtin_mul_overflow(count, shape[i], &count)) {
            return status_fail(TAPML_INVALID, "the extents of a shape are too large to multiply");
        }
    }
    *out_count = count;
    return TAPML_OK;
}

void shape_dense_strides(const int64_t *shape, uint32_t rank, int64_t *out_stride)
{
    int64_t stride = 1;
    for (uint32_t i = rank; i > 0; --i) {
        out_stride[i - 1] = stride;
        // Only the strides of an empty shape can pass the limit, and no walk follows those.
        if (__builtin_mul_overflow(stride, shape[i - 1], &stride)) {
            stride = INT64_MAX;
        }
    }
}

int shape_is_dense(const int64_t *shape, const int64_t *stride, uint32_t rank)
{
    int is_dense = 1;
    int64_t expected = 1;
    for (uint32_t i = rank; i > 0 && stride; --i) {
        const int64_t extent = shape[i - 1];
        if (extent == 0) {
            return 1;
        }
        is_dense = is_dense && (extent == 1 || stride[i - 1] == expected);
        if (__builtin_mul_overflow(expected, extent, &expected)) {
            expected = -1; // No stride reaches as far.
        }
    }
    return is_dense;
}

tapml_status
shape_span(const int64_t *shape, const int64_t *stride, uint32_t rank, int64_t *out_elements)
{
    int64_t count = 0;
    TAPML_TRY(shape_count(shape, rank, &count));
    if (count == 0 || !stride) {
        *out_elements = count;
        return TAPML_OK;
    }
    int64_t last = 0;
    for (uint32_t i = 0; i < rank; ++i) {
        int64_t reach = 0;
        if (stride[i] < 0) {
            return status_fail(TAPML_INVALID,
                               "expected a stride of at least 0 on axis %u, found %lld", i,
                               (long long)stride[i]);
        }
        if (__builtin_mul_overflow(shape[i] - 1, stride[i], &reach) ||
            __builtin_add_overflow(last, reach, &last) || last == INT64_MAX) {
            return status_fail(TAPML_INVALID, "the strides of a shape reach too far");
        }
    }
    *out_elements = last + 1;
    return TAPML_OK;
}

void shape_text(const int64_t *shape, uint32_t rank, char *out_text, size_t size)
{
    if (size == 0) {
        return;
    }
    size_t length = (size_t)snprintf(out_text, size, "[");
    for (uint32_t i = 0; i < rank && length < size; ++i) {
        length += (size_t)snprintf(out_text + length, size - length, i > 0 ? ", %lld" : "%lld",
                                   (long long)shape[i]);
    }
    if (length < size) {
        (void)snprintf(out_text + length, size - length, "]"); // May be cut.
    }
}

int64_t shape_common_units(int64_t extent, int64_t other)
{
    while (other != 0) {
        const int64_t rest = extent % other;
        extent = other;
        other = rest;
    }
    return extent;
}
