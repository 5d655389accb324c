// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "../ops.h"
#include "kparams.h"

enum { ITEMS_MOST = 256 };

tapml_status gpu_op_rms_norm(TAPML_RMS_NORM_PARAMS)
{
    struct gpu_queue *self = gpu_plan_begin(queue);
    struct gpu_view xv, yv, wv = {0};
    uint32_t variant = gpu_view_weight_variant(weight);

    GPU_TRY(gpu_view_rows(self, call, x, &xv));
    GPU_TRY(gpu_view_rows(self, call, y, &yv));
    if (weight != NULL) {
        GPU_TRY(gpu_view_weight(self, call, weight, &wv));
    }
    if (gpu_view_is_x4(&xv) && gpu_view_is_x4(&yv) && gpu_view_is_x4(&wv)) {
        variant |= K_V_X4;
    }
    const uint32_t lanes = (variant & K_V_X4) != 0 ? 4 : 1, width = xv.width / lanes;
    const struct k_rms_norm_params params = {
        GPU_VIEW(x, xv, lanes), GPU_VIEW(y, yv, lanes),  .rows = xv.rows,
        .width = width,         .w_at = wv.at / lanes,   .has_weight = weight != NULL,
        .eps = (float)eps,      .offset = (float)offset,
    };

    return gpu_plan_launch(
        self, call,
        &(struct gpu_plan){
            .kernel = "rms_norm",
            .variant = variant,
            .tune = {[K_RMS_NORM_TUNE_WG_X] = gpu_plan_sum_items(self, width, ITEMS_MOST)},
            .tensors = {[K_RMS_NORM_X] = x, [K_RMS_NORM_W] = weight, [K_RMS_NORM_Y] = y},
            .params = &params,
            .groups = width != 0 ? xv.rows : 0,
        });
}

tapml_status gpu_op_layer_norm(TAPML_LAYER_NORM_PARAMS)
{
    struct gpu_queue *self = gpu_plan_begin(queue);
    struct gpu_view xv, yv, wv = {0}, bv = {0};
    uint32_t variant = gpu_view_weight_variant(weight);

    GPU_TRY(gpu_view_rows(self, call, x, &xv));
    GPU_TRY(gpu_view_rows(self, call, y, &yv));
    if (weight != NULL) {
        GPU_TRY(gpu_view_weight(self, call, weight, &wv));
    }
    if (bias != NULL) {
        GPU_TRY(gpu_view_weight(self, call, bias, &bv));
    }
    if (gpu_view_is_x4(&xv) && gpu_view_is_x4(&yv) && gpu_view_is_x4(&wv)) {
        variant |= K_V_X4;
    }
    const uint32_t lanes = (variant & K_V_X4) != 0 ? 4 : 1, width = xv.width / lanes;
    const struct k_layer_norm_params params = {
        GPU_VIEW(x, xv, lanes), GPU_VIEW(y, yv, lanes),
        .rows = xv.rows,        .width = width,
        .w_at = wv.at / lanes,  .has_weight = weight != NULL,
        .b_at = bv.at,          .b_kind = gpu_view_weight_kind(bias),
        .eps = (float)eps,      .offset = (float)offset,
    };

    return gpu_plan_launch(
        self, call,
        &(struct gpu_plan){
            .kernel = "layer_norm",
            .variant = variant,
            .tune = {[K_LAYER_NORM_TUNE_WG_X] = gpu_plan_sum_items(self, width, ITEMS_MOST)},
            .tensors = {[K_LAYER_NORM_X] = x,
                        [K_LAYER_NORM_W] = weight,
                        [K_LAYER_NORM_B] = bias,
                        [K_LAYER_NORM_Y] = y},
            .params = &params,
            .groups = width != 0 ? xv.rows : 0,
        });
}

tapml_status gpu_op_l2_norm(TAPML_L2_NORM_PARAMS)
{
    struct gpu_queue *self = gpu_plan_begin(queue);
    struct gpu_view xv, yv;

    GPU_TRY(gpu_view_rows(self, call, x, &xv));
    GPU_TRY(gpu_view_rows(self, call, y, &yv));
    const uint32_t lanes = gpu_view_is_x4(&xv) && gpu_view_is_x4(&yv) ? 4 : 1;
    const struct k_l2_norm_params params = {
        GPU_VIEW(x, xv, lanes),    GPU_VIEW(y, yv, lanes), .rows = xv.rows,
        .width = xv.width / lanes, .eps = (float)eps,
    };

    return gpu_plan_launch(
        self, call,
        &(struct gpu_plan){
            .kernel = "l2_norm",
            .variant = lanes == 4 ? K_V_X4 : K_V_BASE,
            .tune = {[K_L2_NORM_TUNE_WG_X] = gpu_plan_sum_items(self, params.width, ITEMS_MOST)},
            .tensors = {[K_L2_NORM_X] = x, [K_L2_NORM_Y] = y},
            .params = &params,
            .groups = params.width != 0 ? xv.rows : 0,
        });
}

tapml_status gpu_op_sum(TAPML_SUM_PARAMS)
{
    struct gpu_queue *self = gpu_plan_begin(queue);
    struct gpu_view xv, yv;

    GPU_TRY(gpu_view_rows(self, call, x, &xv));
    GPU_TRY(gpu_view_rows(self, call, y, &yv));
    const uint32_t lanes = gpu_view_is_x4(&xv) ? 4 : 1;
    const struct k_sum_params params = {
        GPU_VIEW(x, xv, lanes),    GPU_VIEW(y, yv, 1), .rows = xv.rows,
        .width = xv.width / lanes, .groups = yv.width,
    };

    return gpu_plan_launch(
        self, call,
        &(struct gpu_plan){
            .kernel = "sum",
            .variant = lanes == 4 ? K_V_X4 : K_V_BASE,
            .tune = {[K_SUM_TUNE_WG_X] = gpu_plan_sum_items(self, params.width, ITEMS_MOST)},
            .tensors = {[K_SUM_X] = x, [K_SUM_Y] = y},
            .params = &params,
            .groups = xv.rows,
        });
}
