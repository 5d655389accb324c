// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Planning a launch: variants, pipelines, grids. Between the op functions and the driver.
#pragma once

#include "view.h"

// One use of a kernel.
struct gpu_plan {
    const char *kernel;        // A string literal: pipelines remember the pointer.
    uint32_t variant;          // K_V_X4 and the weight. K_V_SUBGROUP is added where it helps,
                               // K_V_HALF where the activations of the call are f16.
    uint32_t tune[K_TUNE_MAX]; // In the order of the kernel (kparams.h); 0 is its default.
    const tapml_tensor *tensors[K_BINDING_MAX]; // In the order of its bindings; NULL is absent.
    const void *params;
    uint64_t groups;   // Folded over x and y; the kernel finds its number with GROUP_LINEAR.
    uint64_t groups_z; // 0 is 1.

    // A kernel that is not of the driver's table, and the workgroups on its axes (foreign.h).
    const struct k_kernel *foreign;
    uint32_t foreign_groups[3];
    const uint64_t *offsets;              // Of the tensors, where they are bound so; or NULL.
    const struct gpu_argument *arguments; // In place of `params`.
    uint32_t argument_count;
};

// The queue, with a new op call begun on it.
struct gpu_queue *gpu_plan_begin(tapml_object *queue);

// Refuses an op whose arguments the kernels do not take: TAPML_UNIMPLEMENTED, or the reason in the
// answer of a dry run.
tapml_status gpu_plan_refuse(struct gpu_queue *queue, tapml_call *call, const char *format, ...)
    GPU_PRINTF(3, 4);

// The largest power of two that is neither above `wanted` nor above what the device allows.
uint32_t gpu_plan_items(const struct gpu_queue *queue, uint32_t wanted);

// The size of a workgroup that shares a sum over `width` lane groups: 1 with small tiles, a
// subgroup with lanes, else about as many as there is work for, at least 32.
uint32_t gpu_plan_sum_items(const struct gpu_queue *queue, uint32_t width, uint32_t most);

// Launches for an op call. Nothing happens in a dry run, or without groups.
tapml_status
gpu_plan_launch(struct gpu_queue *queue, tapml_call *call, const struct gpu_plan *plan);

// Launches for the queue itself: the launch belongs to no op call and is not counted.
tapml_status
gpu_plan_launch_quietly(struct gpu_queue *queue, tapml_call *call, const struct gpu_plan *plan);

// Queues a product for an op call, which counts as a launch. TAPML_UNIMPLEMENTED, without a
// message, where the driver does not take it.
tapml_status
gpu_plan_product(struct gpu_queue *queue, tapml_call *call, const struct gpu_product *product);

// Frees the pipelines.
void gpu_plan_release(struct gpu_device *device);
