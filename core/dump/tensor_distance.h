// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// How far the tensors of two dumps are from each other. Any thread.
#pragma once

#include "base/status.h"

#include <stddef.h>

struct compare_limit;
struct dump_tensor;

enum tensor_distance_state {
    TENSOR_DISTANCE_EQUAL,     // In all bits, or in all that is printed.
    TENSOR_DISTANCE_CLOSE,     // Within the limit.
    TENSOR_DISTANCE_DIFFERENT, // Beyond it.
    TENSOR_DISTANCE_SILENT,    // No values of it are known on one side.
    TENSOR_DISTANCE_ALONE,     // The other dump has no such tensor: it was fused, or left out.
    TENSOR_DISTANCE_STATES
};

enum { TENSOR_DISTANCE_WHY = 200 };

struct tensor_distance {
    enum tensor_distance_state state;
    char why[TENSOR_DISTANCE_WHY]; // "NMSE 3e-02, limit 1e-12"; "" of what is equal.
    int has_worst;                 // Then, of the largest difference:
    size_t worst_index;
    double worst_first, worst_second;
};

// Compares two tensors of as many elements, whatever their axes: one of another number differs.
// Types may differ. Where one is there as text, the values that it shows are compared, beyond a
// unit of their last digit, and the sum of all, beyond what adding in f32 loses.
tapml_status tensor_distance_measure(const struct dump_tensor *first,
                                     const struct dump_tensor *second,
                                     const struct compare_limit *limit,
                                     struct tensor_distance *out_distance) STATUS_USED;
