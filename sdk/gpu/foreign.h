// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// One op of a device, computed by a kernel that was not written for TapML: a text in the language
// of the driver, whose comments say how it is launched.
//
//     // tapml-op: rms_norm
//     // tapml-entry: my_rms_norm
//     // tapml-arguments: x weight y x.rows:i32 x.width:i32 eps:f32
//     // tapml-items: 64
//     // tapml-groups: x.rows
//
// `tapml-arguments` is a line of tapml/signature.h. `tapml-items` are the work items of a workgroup
// on axis x, 1 if it is absent; `tapml-groups` the workgroups on up to three axes, separated by
// blanks: numbers of the same words, each perhaps divided by a number and rounded up: y.count/256.
//
// A kernel of OpenCL or CUDA gets the address of the first element of each tensor, in the order of
// the words. Where buffers are bound (Vulkan, WebGPU), binding i of set 0 is the i-th tensor, from
// its first element on, and the numbers are one block, each at a multiple of its size: push
// constants in Vulkan, the uniform buffer of binding 30 in WebGPU. An absent tensor is a null
// pointer, or 16 bytes of anything, which `NAME.count` tells.
#pragma once

#include "objects.h"

struct gpu_foreign;

// Reads the option `kernel`, a file, and compiles it; without it `*out_foreign` is NULL.
// TAPML_INVALID where the file, a line of it, the compiler or the language of the driver does not
// allow it.
tapml_status
gpu_foreign_open(struct gpu_device *device, tapml_call *call, struct gpu_foreign **out_foreign);

// NULL is allowed. Pipelines of the kernel are gone by then.
void gpu_foreign_close(struct gpu_device *device, struct gpu_foreign *foreign);

// The one op, as `ops` of the backend has it.
const tapml_op_impl *const *gpu_foreign_list(const struct gpu_foreign *foreign,
                                             uint32_t *out_count);

// The implementation of an op, or NULL.
const tapml_op_impl *gpu_foreign_find(const struct gpu_foreign *foreign, const tapml_op *op);

// The text of the file, and what the driver compiles, which decide what is computed.
const char *gpu_foreign_text(const struct gpu_foreign *foreign);
const unsigned char *gpu_foreign_code(const struct gpu_foreign *foreign, size_t *out_size);
