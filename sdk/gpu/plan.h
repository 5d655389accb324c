// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Planning a launch: variants, pipelines, grids. Between the op functions and the driver. What
// functions of ops use is in tapml/gpu/plan.h.
#pragma once

#include "objects.h"

#include <tapml/gpu/plan.h>

// A kernel that is not of a driver's table, the workgroups on its axes, and what it gets
// (foreign.h).
struct gpu_plan_foreign {
    const struct k_kernel *kernel;
    uint32_t groups[3];
    const uint64_t *offsets;              // Of the tensors, where they are bound so; or NULL.
    const struct gpu_argument *arguments; // In place of the plan's `params`; or NULL.
    uint32_t argument_count;
};

// Makes the pipeline of such a kernel before it is launched. Failures are the driver's.
tapml_status gpu_plan_compile_foreign(struct gpu_device *device,
                                      tapml_call *call,
                                      const struct k_kernel *kernel);

// As gpu_plan_launch, with such a kernel in place of one by its name.
tapml_status gpu_plan_launch_foreign(struct gpu_queue *queue,
                                     tapml_call *call,
                                     const struct gpu_plan *plan,
                                     const struct gpu_plan_foreign *foreign);

// Launches for the queue itself: the launch belongs to no op call and is not counted.
tapml_status
gpu_plan_launch_quietly(struct gpu_queue *queue, tapml_call *call, const struct gpu_plan *plan);

// Queues a product for an op call, which counts as a launch. TAPML_UNIMPLEMENTED, without a
// message, where the driver does not take it.
tapml_status
gpu_plan_product(struct gpu_queue *queue, tapml_call *call, const struct gpu_product *product);

// Whether the driver has a kernel of its table in a variant, with K_V_HALF where the call has
// activations of f16.
int gpu_plan_has(const struct gpu_queue *queue, const char *kernel, uint32_t variant);

// Frees the pipelines.
void gpu_plan_release(struct gpu_device *device);
