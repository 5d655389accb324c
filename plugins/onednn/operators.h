// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The ops as steps of the library. Each gets one value for each parameter of its op; what the
// library cannot do becomes the problem of the run.
#pragma once

#include "library.h"

typedef void compute_fn(struct run *run, const tapml_value *args);

compute_fn attention_compute; // Two matmuls and a softmax, some queries at a time.
compute_fn linear_compute;    // A matmul; with quants of 8 bits one for all blocks, then their sum.
compute_fn rows_binary;       // a, b, y
compute_fn rows_copy;         // x, y: a reorder.
compute_fn rows_layer_norm;
compute_fn rows_rms_norm; // Binaries, a reduction, and eltwises of what comes of it.
compute_fn rows_unary;    // x, numbers, y: an eltwise or several.

// y = scale * x; with a limit above 0 limit * tanh(scale * x / limit). Both lie alike.
void rows_scale(
    struct run *run, const struct operand *x, double scale, double limit, const struct operand *y);

// Makes the root of the component, with the devices that library and processor have.
// TAPML_UNAVAILABLE where the library has no engine.
tapml_status device_create(const tapml_host *host, tapml_call *call, tapml_object **out_root);

// The tensor of a value, or NULL.
static inline const tapml_tensor *tensor_of(const tapml_value *value)
{
    return value->kind == TAPML_V_NONE ? NULL : value->u.p;
}
