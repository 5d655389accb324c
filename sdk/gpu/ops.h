// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The op functions, convention 1 of tapml/op.h. Each stands in ops/ and is its launch: it checks
// what the kernels do not take, chooses a variant and sizes, and packs the parameters.
//
// Every index that comes from a tensor (the ids of embed, the rows of gather_rows) is clamped by
// the kernel to what is there, so that no value reads outside a buffer.
#pragma once

#include "plan.h"

#include <tapml/ops.h>

// Passes a failure on.
#define GPU_TRY(call_)                                                                             \
    do {                                                                                           \
        const tapml_status try_status = (call_);                                                   \
        if (try_status != TAPML_OK) {                                                              \
            return try_status;                                                                     \
        }                                                                                          \
    } while (0)

// One function for each op of the catalogue: gpu_op_silu implements tapml.silu.
#define GPU_OP_DECLARE(name, upper) tapml_status gpu_op_##name(TAPML_##upper##_PARAMS);
TAPML_OPS_EACH(GPU_OP_DECLARE)
#undef GPU_OP_DECLARE

// Launches an elementwise kernel over `count` tensors of one shape, in the order of its bindings;
// the last one is written.
tapml_status gpu_op_elements(struct gpu_queue *queue,
                             tapml_call *call,
                             const char *kernel,
                             const tapml_tensor *const *tensors,
                             uint32_t count);

// What `ops` of the backend answers.
const tapml_op_impl *const *gpu_ops_list(uint32_t *out_count);

// The implementation of an op, or NULL.
const tapml_op_impl *gpu_ops_find(const tapml_op *op);
