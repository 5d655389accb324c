// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "../ops.h"
#include "kparams.h"

enum { ITEMS_MOST = 256 };

tapml_status gpu_op_fake_quantise(TAPML_FAKE_QUANTISE_PARAMS)
{
    struct gpu_queue *self = gpu_plan_begin(queue);
    struct gpu_view xv, yv;

    GPU_TRY(gpu_view_rows(self, call, x, &xv));
    GPU_TRY(gpu_view_rows(self, call, y, &yv));
    const uint32_t length = block > 0 && block < xv.width ? (uint32_t)block : xv.width;
    const uint32_t blocks = length > 0 ? xv.width / length + (xv.width % length != 0) : 0;

    if ((uint64_t)xv.rows * blocks > UINT32_MAX) {
        return gpu_plan_refuse(self, call, "an index of 33 bits or more, kernels have 32");
    }
    const struct k_fake_quantise_params params = {
        GPU_VIEW(x, xv, 1),         GPU_VIEW(y, yv, 1),
        .count = xv.rows * blocks,  .width = xv.width,
        .blocks = blocks,           .block = length,
        .format = (uint32_t)format, .scaling = (uint32_t)scaling,
        .low = (float)low,          .high = (float)high,
        .factor = (float)factor,
    };

    return gpu_plan_launch(
        self, call,
        &(struct gpu_plan){
            .kernel = "fake_quantise",
            .tune = {[K_FAKE_QUANTISE_TUNE_WG_X] = gpu_plan_sum_items(self, length, ITEMS_MOST)},
            .tensors = {[K_FAKE_QUANTISE_X] = x, [K_FAKE_QUANTISE_Y] = y},
            .params = &params,
            .groups = params.count,
        });
}
