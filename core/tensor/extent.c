// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "tensor/extent.h"

#include "tensor/encoding.h"

static int encoded_end(const tapml_tensor *tensor, uint64_t *out_end_bytes)
{
    uint64_t bytes = 0;
    return encoding_bytes(tensor->encoding, tensor->dtype, tensor->shape, tensor->rank, &bytes) ==
               TAPML_OK &&
           !__builtin_add_overflow(bytes, tensor->offset, out_end_bytes);
}

// Without strides the last element is the last of all: one product.
static int dense_end(const tapml_tensor *tensor, uint64_t element_bytes, uint64_t *out_end_bytes)
{
    int64_t count = 1;
    int is_empty = 0, is_beyond = 0;
    for (uint32_t i = 0; i < tensor->rank; i++) {
        if (tensor->shape[i] < 0) {
            return 0;
        }
        is_empty |= tensor->shape[i] == 0;
        is_beyond |= __builtin_mul_overflow(count, tensor->shape[i], &count);
    }
    if (is_empty) {
        return 1;
    }
    return !is_beyond && !__builtin_mul_overflow((uint64_t)count, element_bytes, out_end_bytes) &&
           !__builtin_add_overflow(*out_end_bytes, tensor->offset, out_end_bytes);
}

int extent_end(const tapml_tensor *tensor, uint64_t *out_end_bytes)
{
    const uint64_t element_bytes = TAPML_DT_BYTES(tensor->dtype);
    uint64_t last = 0, count = 1;
    *out_end_bytes = 0;
    if (tensor->rank > TAPML_MAX_RANK) {
        return 0;
    }
    if (tensor->encoding) {
        return encoded_end(tensor, out_end_bytes);
    }
    if (element_bytes == 0) {
        return 0;
    }
    if (!tensor->stride) {
        return dense_end(tensor, element_bytes, out_end_bytes);
    }
    for (uint32_t i = tensor->rank; i > 0; i--) {
        const int64_t extent = tensor->shape[i - 1], stride = tensor->stride[i - 1];
        uint64_t reach = 0;
        if (extent < 0 || stride < 0) {
            return 0;
        }
        if (extent == 0) {
            return 1;
        }
        if (__builtin_mul_overflow((uint64_t)extent - 1, (uint64_t)stride, &reach) ||
            __builtin_add_overflow(last, reach, &last) ||
            __builtin_mul_overflow(count, (uint64_t)extent, &count) || count > INT64_MAX) {
            return 0;
        }
    }
    return last < UINT64_MAX && !__builtin_mul_overflow(last + 1, element_bytes, out_end_bytes) &&
           !__builtin_add_overflow(*out_end_bytes, tensor->offset, out_end_bytes);
}
