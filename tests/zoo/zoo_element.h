// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The part of zoo.h that finds elements of tensors that may have strides.
#pragma once

// The element of this number, counted along the last axis first.
static float *element(const tapml_tensor *tensor, int64_t number)
{
    int64_t at = 0, dense = 1;
    for (uint32_t axis = tensor->rank; axis > 0; --axis) {
        at += number % tensor->shape[axis - 1] *
              (tensor->stride != NULL ? tensor->stride[axis - 1] : dense);
        dense *= tensor->shape[axis - 1];
        number /= tensor->shape[axis - 1];
    }
    return floats(tensor) + at;
}
