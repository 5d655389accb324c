// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The dtypes that a place can have its activations in, as one table.
//
// The graph, the source and host memory know activations as f32. A place of a reduced dtype has
// them, and states, in fewer bytes; exec/cast converts on the way. Everything else asks this table,
// so that another dtype is a row of it.
#pragma once

#include "base/status.h"

#include <tapml/tensor.h>

// F32 is 0, so that zeroed structs are of f32.
enum activation { ACTIVATION_F32, ACTIVATION_F16, ACTIVATION_BF16, ACTIVATION_COUNT };

struct activation_type {
    const char *name;    // Of the dtype, as files, options, reports and schemas say it: "f16".
    const char *remark;  // Behind the name of a device: ", activations f16"; "" of f32.
    const char *setting; // Among the settings of a result: "activations=f16"; "" of f32.
    uint32_t dtype;      // TAPML_F16
    uint32_t bytes;      // Of an element.
    int is_reduced;      // Fewer bits than f32: values are rounded on their way in.
    int is_offered;      // A target may ask for it; else no kernels take it yet.
    double rounding;     // The largest relative error of rounding a normal value to it.

    // `count` values; rounded to nearest, ties to even, and widened, which is exact.
    void (*from_f32)(const float *values, size_t count, void *out_elements);
    void (*to_f32)(const void *elements, size_t count, float *out_values);
};

// The row of an activation dtype. Never NULL; static.
const struct activation_type *activation_type(enum activation activation);

int activation_is_reduced(enum activation activation);

// A set of activation dtypes, one bit each. The mark of a value is the set of those that it has at
// places of that dtype; elsewhere it is f32.
typedef uint8_t activation_set;

activation_set activation_bit(enum activation activation);

// Bytes of the same values at places of each activation dtype.
struct activation_bytes {
    uint64_t at[ACTIVATION_COUNT];
};

// Of `bytes` of values that are f32 in host memory, with their mark.
struct activation_bytes activation_bytes(uint64_t bytes, activation_set mark);

// The reduced activation dtype whose elements are of `dtype`, or ACTIVATION_F32.
enum activation activation_find(uint32_t dtype);

// The one of two that loses more; either where both lose the same.
enum activation activation_coarser(enum activation left, enum activation right);

// Reads a name: "f16". TAPML_INVALID for one that is not known or not offered, with the choices;
// `what` names the option or fact that has it.
tapml_status
activation_read(const char *what, const char *name, enum activation *out_activation) STATUS_USED;
