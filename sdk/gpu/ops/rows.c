// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "../ops.h"
#include "kparams.h"

enum { ITEMS = 64 };

// One launch per panel of the table: each writes the rows whose ids it holds.
tapml_status gpu_op_embed(TAPML_EMBED_PARAMS)
{
    struct gpu_queue *self = gpu_plan_begin(queue);
    const uint32_t items = gpu_plan_items(self, ITEMS);
    struct gpu_view yv, tv;
    int64_t rows = 0, first = 0;

    GPU_TRY(gpu_view_rows(self, call, y, &yv));
    for (const tapml_tensor *panel = table; panel != NULL; panel = panel->next) {
        rows += panel->shape[0];
    }
    for (const tapml_tensor *panel = table; panel != NULL; panel = panel->next) {
        GPU_TRY(gpu_view_weight(self, call, panel, &tv));
        const struct gpu_blocks blocks = gpu_view_blocks(panel);
        const struct k_embed_params params = {
            GPU_VIEW(y, yv, 1),
            GPU_BLOCKS(table, blocks),
            .table_at = tv.at,
            .table_s = gpu_view_weight_stride(panel),
            .table_kind = gpu_view_weight_kind(panel),
            .first = (uint32_t)first,
            .rows = (uint32_t)panel->shape[0],
            .ids_at = (uint32_t)(ids->offset / sizeof(int32_t)),
            .offset = (uint32_t)offset,
            .last = (uint32_t)(rows - 1),
            .width = yv.width,
            .count = yv.rows * yv.width,
        };

        GPU_TRY(gpu_plan_launch(
            self, call,
            &(struct gpu_plan){
                .kernel = "embed",
                .tune = {[K_EMBED_TUNE_WG_X] = items},
                .tensors = {[K_EMBED_TABLE] = panel, [K_EMBED_IDS] = ids, [K_EMBED_Y] = y},
                .params = &params,
                .groups = ((uint64_t)params.count + items - 1) / items,
            }));
        first += panel->shape[0];
    }
    return TAPML_OK;
}

tapml_status gpu_op_gather_rows(TAPML_GATHER_ROWS_PARAMS)
{
    struct gpu_queue *self = gpu_plan_begin(queue);
    const uint32_t items = gpu_plan_items(self, ITEMS);
    struct gpu_view xv, yv;

    GPU_TRY(gpu_view_rows(self, call, x, &xv));
    GPU_TRY(gpu_view_rows(self, call, y, &yv));
    const struct k_gather_rows_params params = {
        GPU_VIEW(x, xv, 1),
        GPU_VIEW(y, yv, 1),
        .rows_at = (uint32_t)(rows->offset / sizeof(int32_t)),
        .last = xv.rows - 1,
        .width = yv.width,
        .count = yv.rows * yv.width,
    };

    return gpu_plan_launch(
        self, call,
        &(struct gpu_plan){
            .kernel = "gather_rows",
            .tune = {[K_GATHER_ROWS_TUNE_WG_X] = items},
            .tensors = {[K_GATHER_ROWS_X] = x, [K_GATHER_ROWS_ROWS] = rows, [K_GATHER_ROWS_Y] = y},
            .params = &params,
            .groups = xv.rows != 0 ? ((uint64_t)params.count + items - 1) / items : 0,
        });
}
