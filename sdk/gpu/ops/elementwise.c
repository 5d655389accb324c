// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "../ops.h"
#include "kparams.h"

#include <string.h>

enum {
    ITEMS = 64,
    AXIS_FIELDS = TAPML_MAX_RANK,
    TENSOR_FIELDS = 1 + TAPML_MAX_RANK,
    PARAMS_MAX = AXIS_FIELDS + GPU_ELEMENTS_TENSORS_MAX * TENSOR_FIELDS + GPU_ELEMENTS_NUMBERS_MAX,
};

// The parameters of every elementwise kernel are ELEMENTS, then STRIDES of each tensor, all u32,
// and what numbers it has, f32.
_Static_assert(sizeof(struct k_copy_params) ==
                   sizeof(uint32_t) * (AXIS_FIELDS + 2u * TENSOR_FIELDS),
               "ELEMENTS and STRIDES in k_elements.h are what is packed here");
_Static_assert(PARAMS_MAX * sizeof(uint32_t) <= K_PARAMS_MAX, "a kernel takes the longest");

// What is written has another type than what is read where it is a state.
tapml_status
gpu_plan_elements(struct gpu_queue *queue, tapml_call *call, const struct gpu_elementwise *use)
{
    struct gpu_elements e;
    const tapml_tensor *const *tensors = use->tensors, *written = tensors[use->tensor_count - 1];
    uint32_t variant = K_V_BASE;
    uint32_t params[PARAMS_MAX] = {0}, at = 0;

    GPU_TRY(gpu_view_elements(queue, call, tensors, use->tensor_count, &e));
    GPU_TRY(gpu_view_state(queue, call, tensors[0]->dtype, written, &variant));
    const uint32_t items = gpu_plan_items(queue, ITEMS);
    struct gpu_plan plan = {
        .kernel = use->kernel,
        .is_own = use->is_own,
        .variant = variant | (e.lanes == 4 ? K_V_X4 : K_V_BASE),
        .tune = {[K_COPY_TUNE_WG_X] = items, [K_COPY_TUNE_AXES] = e.axes},
        .params = params,
        .groups = ((uint64_t)e.count + items - 1) / items,
    };

    params[at++] = e.count;
    for (uint32_t axis = 0; axis + 1 < TAPML_MAX_RANK; axis++) { // The last axis takes the rest.
        params[at++] = axis < e.axes ? e.n[axis] : 1;
    }
    for (uint32_t t = 0; t < use->tensor_count; t++) {
        params[at++] = e.tensor[t].at;
        memcpy(&params[at], e.tensor[t].stride, sizeof(e.tensor[t].stride));
        at += TAPML_MAX_RANK;
        plan.tensors[t] = tensors[t];
    }
    if (use->number_count > 0) {
        memcpy(&params[at], use->numbers, use->number_count * sizeof(*use->numbers));
    }
    return gpu_plan_launch(queue, call, &plan);
}

tapml_status gpu_op_elements(struct gpu_queue *queue,
                             tapml_call *call,
                             const char *kernel,
                             const tapml_tensor *const *tensors,
                             uint32_t count)
{
    return gpu_plan_elements(
        queue, call,
        &(struct gpu_elementwise){.kernel = kernel, .tensors = tensors, .tensor_count = count});
}

// An elementwise op of one tensor with numbers.
static tapml_status launch_numbers(struct gpu_queue *queue,
                                   tapml_call *call,
                                   const char *kernel,
                                   const tapml_tensor *const tensors[2],
                                   const float *numbers,
                                   uint32_t number_count)
{
    return gpu_plan_elements(queue, call,
                             &(struct gpu_elementwise){.kernel = kernel,
                                                       .tensors = tensors,
                                                       .tensor_count = 2,
                                                       .numbers = numbers,
                                                       .number_count = number_count});
}

tapml_status gpu_op_add(TAPML_ADD_PARAMS)
{
    const tapml_tensor *const tensors[] = {a, b, y};

    return gpu_op_elements(gpu_plan_begin(queue), call, "add", tensors, 3);
}

tapml_status gpu_op_mul(TAPML_MUL_PARAMS)
{
    const tapml_tensor *const tensors[] = {a, b, y};

    return gpu_op_elements(gpu_plan_begin(queue), call, "mul", tensors, 3);
}

tapml_status gpu_op_sub(TAPML_SUB_PARAMS)
{
    const tapml_tensor *const tensors[] = {a, b, y};

    return gpu_op_elements(gpu_plan_begin(queue), call, "sub", tensors, 3);
}

tapml_status gpu_op_exp(TAPML_EXP_PARAMS)
{
    const tapml_tensor *const tensors[] = {x, y};

    return gpu_op_elements(gpu_plan_begin(queue), call, "exponential", tensors, 2);
}

tapml_status gpu_op_softplus(TAPML_SOFTPLUS_PARAMS)
{
    const tapml_tensor *const tensors[] = {x, y};

    return gpu_op_elements(gpu_plan_begin(queue), call, "softplus", tensors, 2);
}

tapml_status gpu_op_silu(TAPML_SILU_PARAMS)
{
    const tapml_tensor *const tensors[] = {x, y};

    return gpu_op_elements(gpu_plan_begin(queue), call, "silu", tensors, 2);
}

tapml_status gpu_op_copy(TAPML_COPY_PARAMS)
{
    const tapml_tensor *const tensors[] = {x, y};

    return gpu_op_elements(gpu_plan_begin(queue), call, "copy", tensors, 2);
}

// A copy of each operand into its part of y.
tapml_status gpu_op_concat(TAPML_CONCAT_PARAMS)
{
    struct gpu_queue *self = gpu_plan_begin(queue);
    int64_t stride[TAPML_MAX_RANK];
    tapml_tensor left = *y, right = *y;

    for (uint32_t axis = 0; axis < y->rank; axis++) {
        stride[axis] = gpu_view_stride(y, axis);
    }
    left.shape = a->shape;
    left.stride = stride;
    right.shape = b->shape;
    right.stride = stride;
    right.offset += (uint64_t)a->shape[a->rank - 1] * TAPML_DT_BYTES(y->dtype);

    const tapml_tensor *const first[] = {a, &left}, *const second[] = {b, &right};

    GPU_TRY(gpu_op_elements(self, call, "copy", first, 2));
    return gpu_op_elements(self, call, "copy", second, 2);
}

tapml_status gpu_op_gelu(TAPML_GELU_PARAMS)
{
    const tapml_tensor *const tensors[] = {x, y};

    return gpu_op_elements(gpu_plan_begin(queue), call, "gelu", tensors, 2);
}

tapml_status gpu_op_gelu_tanh(TAPML_GELU_TANH_PARAMS)
{
    const tapml_tensor *const tensors[] = {x, y};

    return gpu_op_elements(gpu_plan_begin(queue), call, "gelu_tanh", tensors, 2);
}

tapml_status gpu_op_relu(TAPML_RELU_PARAMS)
{
    const tapml_tensor *const tensors[] = {x, y};

    return gpu_op_elements(gpu_plan_begin(queue), call, "relu", tensors, 2);
}

tapml_status gpu_op_sigmoid(TAPML_SIGMOID_PARAMS)
{
    const tapml_tensor *const tensors[] = {x, y};

    return gpu_op_elements(gpu_plan_begin(queue), call, "sigmoid", tensors, 2);
}

tapml_status gpu_op_tanh(TAPML_TANH_PARAMS)
{
    const tapml_tensor *const tensors[] = {x, y};

    return gpu_op_elements(gpu_plan_begin(queue), call, "tangent", tensors, 2);
}

tapml_status gpu_op_scale(TAPML_SCALE_PARAMS)
{
    const tapml_tensor *const tensors[] = {x, y};
    const float number = (float)factor;

    return launch_numbers(gpu_plan_begin(queue), call, "scale", tensors, &number, 1);
}

tapml_status gpu_op_softcap(TAPML_SOFTCAP_PARAMS)
{
    const tapml_tensor *const tensors[] = {x, y};
    const float number = (float)limit;

    return launch_numbers(gpu_plan_begin(queue), call, "softcap", tensors, &number, 1);
}

tapml_status gpu_op_clip(TAPML_CLIP_PARAMS)
{
    const tapml_tensor *const tensors[] = {x, y};
    const float numbers[2] = {(float)low, (float)high};

    return launch_numbers(gpu_plan_begin(queue), call, "clip", tensors, numbers, 2);
}
