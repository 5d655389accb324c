// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "../ops.h"
#include "kparams.h"

enum { BLOCK_VALUES = 32, BLOCK_WORDS = 9, ITEMS = 64 };

// Each item encodes a block of the rows.
static tapml_status append_blocks(TAPML_STATE_APPEND_PARAMS)
{
    struct gpu_queue *self = (struct gpu_queue *)queue;
    const uint32_t items = gpu_plan_items(self, ITEMS);
    struct gpu_view x, y;

    GPU_TRY(gpu_view_rows(self, call, rows, &x));
    GPU_TRY(gpu_view_state_rows(self, call, state, &y));
    const uint32_t heads = (uint32_t)rows->shape[1], blocks = x.width / BLOCK_VALUES;
    const struct k_state_append_blocks_params params = {
        .count = x.rows * blocks,
        .heads = heads,
        .blocks = blocks,
        .x_at = x.at,
        .x_s0 = rows->shape[0] > 1 ? (uint32_t)gpu_view_stride(rows, 0) : 0,
        .x_s1 = heads > 1 ? (uint32_t)gpu_view_stride(rows, 1) : 0,
        .y_at = gpu_view_state_word(state) + (uint32_t)position * heads * blocks * BLOCK_WORDS,
    };
    const struct gpu_plan plan = {
        .kernel = "state_append_blocks",
        .tune = {[K_STATE_APPEND_BLOCKS_TUNE_WG_X] = items},
        .tensors = {[K_STATE_APPEND_BLOCKS_X] = rows, [K_STATE_APPEND_BLOCKS_Y] = state},
        .params = &params,
        .groups = ((uint64_t)params.count + items - 1) / items,
    };

    return gpu_plan_launch(self, call, &plan);
}

// The rows of the state that are written are a tensor of the shape of `rows`.
tapml_status gpu_op_state_append(TAPML_STATE_APPEND_PARAMS)
{
    struct gpu_queue *self = gpu_plan_begin(queue);
    const int64_t stride[] = {gpu_view_stride(state, 0), gpu_view_stride(state, 1),
                              gpu_view_stride(state, 2)};
    tapml_tensor region = *state;
    const tapml_tensor *const tensors[] = {rows, &region};

    if (state->encoding != NULL) {
        return append_blocks(queue, call, state, rows, position);
    }
    region.shape = rows->shape;
    region.stride = stride;
    region.offset += (uint64_t)position * (uint64_t)stride[0] * TAPML_DT_BYTES(state->dtype);
    return gpu_op_elements(self, call, "state_append", tensors, 2);
}
