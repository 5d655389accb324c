// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "../ops.h"
#include "kparams.h"

enum { ITEMS = 64 };

tapml_status gpu_op_rope(TAPML_ROPE_PARAMS)
{
    struct gpu_queue *self = gpu_plan_begin(queue);
    struct gpu_view xv, yv, cv, sv;

    GPU_TRY(gpu_view_rows(self, call, x, &xv));
    GPU_TRY(gpu_view_rows(self, call, y, &yv));
    GPU_TRY(gpu_view_rows(self, call, cos, &cv));
    GPU_TRY(gpu_view_rows(self, call, sin, &sv));
    const uint32_t items = gpu_plan_items(self, ITEMS);
    const struct k_rope_params params = {
        GPU_VIEW(x, xv, 1),
        GPU_VIEW(y, yv, 1),
        .cos_at = cv.at,
        .cos_s = (uint32_t)gpu_view_stride(cos, 0),
        .sin_at = sv.at,
        .sin_s = (uint32_t)gpu_view_stride(sin, 0),
        .heads = (uint32_t)x->shape[1],
        .width = xv.width,
        .pairs = cv.width,
        .interleaved = interleaved != 0,
        .count = xv.rows * xv.width,
    };

    return gpu_plan_launch(
        self, call,
        &(struct gpu_plan){
            .kernel = "rope",
            .tune = {[K_ROPE_TUNE_WG_X] = items},
            .tensors =
                {[K_ROPE_X] = x, [K_ROPE_COSINES] = cos, [K_ROPE_SINES] = sin, [K_ROPE_Y] = y},
            .params = &params,
            .groups = ((uint64_t)params.count + items - 1) / items,
        });
}
