// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "../ops.h"

// The rows of the state that are written are a tensor of the shape of `rows`.
tapml_status gpu_op_state_append(TAPML_STATE_APPEND_PARAMS)
{
    const int64_t stride[] = {gpu_view_stride(state, 0), gpu_view_stride(state, 1),
                              gpu_view_stride(state, 2)};
    tapml_tensor region = *state;
    const tapml_tensor *const tensors[] = {rows, &region};

    region.shape = rows->shape;
    region.stride = stride;
    region.offset += (uint64_t)position * (uint64_t)stride[0] * TAPML_DT_BYTES(state->dtype);
    return gpu_op_elements(gpu_plan_begin(queue), call, "state_append", tensors, 2);
}
