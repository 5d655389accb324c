// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Launches for op calls: what the function of an op uses, in sdk/gpu and in a driver with operators
// of its own (struct gpu_own in driver.h).
//
// The function of an op has the op's type, such as TAPML_SILU_PARAMS. It begins the call, turns
// tensors into numbers (view.h), packs the parameters of its kernel, and launches:
//
//     static tapml_status twist(ORG_EXAMPLE_TWIST_PARAMS)
//     {
//         struct gpu_queue *self = gpu_plan_begin(queue);
//         struct gpu_view xv, yv;
//
//         GPU_TRY(gpu_view_rows(self, call, x, &xv));
//         GPU_TRY(gpu_view_rows(self, call, y, &yv));
//         const uint32_t items = gpu_plan_items(self, 64);
//         const struct k_twist_params params = {
//             GPU_VIEW(x, xv, 1), GPU_VIEW(y, yv, 1),
//             .width = xv.width, .count = xv.rows * xv.width,
//         };
//
//         return gpu_plan_launch(self, call, &(struct gpu_plan){
//             .kernel = "twist",
//             .is_own = 1,
//             .tune = {[K_TWIST_TUNE_WG_X] = items},
//             .tensors = {[K_TWIST_X] = x, [K_TWIST_Y] = y},
//             .params = &params,
//             .groups = ((uint64_t)params.count + items - 1) / items,
//         });
//     }
//
// It runs twice over. For a call it queues the launches. For `supports` it is called in a dry run,
// in which launches are checked and not queued, so that what it refuses in a call is what the
// device says no to before. Hence it does nothing but by the functions below, keeps nothing between
// calls, and decides by its arguments and the device's limits alone. Tensors have buffers in a call
// only: a dry run may be asked about shapes, so that no function of an op looks at `buffer`.
//
// The host has checked the arguments against the schema: types, shapes, layouts and domains.
// Absent tensors are NULL.
//
// Threads: those of the queue; one call of a device at a time. Errors: what a function returns, the
// function of the op returns, as GPU_TRY does; the message is set. The structs are borrowed for the
// call.
#ifndef TAPML_GPU_PLAN_H
#define TAPML_GPU_PLAN_H

#include <tapml/gpu/driver.h>
#include <tapml/gpu/support.h>
#include <tapml/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

// A queue with an op call on it. Of sdk/gpu.
struct gpu_queue;

// Passes a failure on.
#define GPU_TRY(call_)                                                                             \
    do {                                                                                           \
        const tapml_status try_status = (call_);                                                   \
        if (try_status != TAPML_OK) {                                                              \
            return try_status;                                                                     \
        }                                                                                          \
    } while (0)

// One use of a kernel.
struct gpu_plan {
    // Its name: a string literal, of which pipelines keep the pointer.
    const char *kernel;

    // Whether it is one of `kernels` of struct gpu_own, else of the driver's table, that of
    // sdk/gpu.
    int is_own;

    // K_V_X4 and what the weight and the state need. sdk/gpu adds K_V_SUBGROUP where there is such
    // a kernel and the device can, and K_V_HALF where a tensor of the call is an activation in f16
    // (view.h).
    uint32_t variant;

    // The values of its constants, in the order of the kernel: K_<KERNEL>_TUNE_* of the header of
    // parameters. 0 is the constant's default.
    uint32_t tune[K_TUNE_MAX];

    // What is bound, in the order of the kernel's bindings: K_<KERNEL>_*. Each buffer is bound
    // whole, the kernel gets offsets as parameters. NULL is an absent tensor, for which 16 bytes of
    // anything are bound. No buffer that the kernel writes is bound twice.
    const tapml_tensor *tensors[K_BINDING_MAX];

    // struct k_<kernel>_params, copied.
    const void *params;

    // Workgroups. The first count is folded over two axes of the grid, with less than a row of
    // spare groups: the kernel finds its number by GROUP_LINEAR. The other is the third axis, 0 is
    // 1. No groups: nothing is launched.
    uint64_t groups;
    uint64_t groups_z;
};

// Begins an op call. `queue` is the function's first argument. Never fails.
struct gpu_queue *gpu_plan_begin(tapml_object *queue);

// Refuses the call, as the kernels do not take its arguments: the reason, formatted as by printf,
// is the answer of a dry run, or the message of the call. Returns TAPML_UNIMPLEMENTED.
tapml_status gpu_plan_refuse(struct gpu_queue *queue, tapml_call *call, const char *format, ...)
    GPU_PRINTF(3, 4);

// Returns what kernels may use of the device: constant, and as long as the device.
const struct gpu_limits *gpu_plan_limits(const struct gpu_queue *queue);

// Returns the work items for a workgroup: the largest power of two that is neither above `wanted`
// nor above what the device allows nor above 256.
uint32_t gpu_plan_items(const struct gpu_queue *queue, uint32_t wanted);

// Returns the work items for a workgroup that shares a sum (WG_SUM of the dialect) over `width`
// lane groups: one on a device of small tiles, a subgroup on one of lanes, else a power of two of
// about as many as there is work for, from 32 to `most`.
uint32_t gpu_plan_sum_items(const struct gpu_queue *queue, uint32_t width, uint32_t most);

// Queues a launch; the first of a kernel with these constants compiles it. The calls of one op may
// launch any number of kernels, which run in their order.
//
// Refuses (TAPML_UNIMPLEMENTED) more workgroups than a grid has, and in a dry run a kernel or a
// variant that the driver does not have; TAPML_INTERNAL for that in a call. Else failures are
// those of the driver.
tapml_status
gpu_plan_launch(struct gpu_queue *queue, tapml_call *call, const struct gpu_plan *plan);

enum { GPU_ELEMENTS_TENSORS_MAX = 3, GPU_ELEMENTS_NUMBERS_MAX = 5 };

// A use of a kernel that computes one element from those at the same place (k_elements.h of the
// dialect). Its parameters are ELEMENTS, then STRIDES of each tensor, then a FIELD of f32 for each
// number; its only constant beside the workgroup is AXES. It has the variants 0 and K_V_X4, and
// both with K_V_HALF where activations may be f16.
struct gpu_elementwise {
    const char *kernel; // As in struct gpu_plan,
    int is_own;         // as is this.

    // In the order of its bindings, 1 .. GPU_ELEMENTS_TENSORS_MAX; the last one is written. They
    // have one shape, and any strides.
    const tapml_tensor *const *tensors;
    uint32_t tensor_count;
    const float *numbers; // 0 .. GPU_ELEMENTS_NUMBERS_MAX of them; NULL where there are none.
    uint32_t number_count;
};

// Queues such a launch. Refuses what gpu_view_elements (view.h) and gpu_plan_launch do.
tapml_status
gpu_plan_elements(struct gpu_queue *queue, tapml_call *call, const struct gpu_elementwise *use);

#ifdef __cplusplus
}
#endif

#endif
