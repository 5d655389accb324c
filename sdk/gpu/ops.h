// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The op functions, convention 1 of tapml/op.h. Each stands in ops/ and is its launch: it checks
// what the kernels do not take, chooses a variant and sizes, and packs the parameters.
//
// Every index that comes from a tensor (the ids of embed, the rows of gather_rows) is clamped by
// the kernel to what is there, so that no value reads outside a buffer.
#pragma once

#include "plan.h"

#include <tapml/gpu/view.h>
#include <tapml/ops.h>

// One function for each op of the catalogue: gpu_op_silu implements tapml.silu.
#define GPU_OP_DECLARE(name, upper) tapml_status gpu_op_##name(TAPML_##upper##_PARAMS);
TAPML_OPS_EACH(GPU_OP_DECLARE)
#undef GPU_OP_DECLARE

// Launches an elementwise kernel without numbers over `count` tensors.
tapml_status gpu_op_elements(struct gpu_queue *queue,
                             tapml_call *call,
                             const char *kernel,
                             const tapml_tensor *const *tensors,
                             uint32_t count);

// Makes the ops of the root's devices: those of the catalogue, and those of the driver itself
// (struct gpu_own), which gpu_own_check has accepted and which come in the place of a like one.
// TAPML_NO_MEMORY.
tapml_status gpu_ops_create(struct gpu_root *root, tapml_call *call);
void gpu_ops_destroy(struct gpu_root *root);

// The implementation of an op, or NULL.
const tapml_op_impl *gpu_ops_find(const struct gpu_root *root, const tapml_op *op);

// Calls the function of an implementation of this root, one value for each parameter.
// TAPML_UNIMPLEMENTED, without a message, where the driver does not know how.
tapml_status gpu_ops_apply(const struct gpu_root *root,
                           const tapml_op_impl *impl,
                           tapml_object *queue,
                           tapml_call *call,
                           const tapml_value *args);
