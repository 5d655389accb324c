// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "../ops.h"
#include "kparams.h"

enum { ITEMS = 64, SUM_ITEMS_MOST = 256, REMOVES = 1, READS_BEFORE = 2 };

static uint32_t at_of(const tapml_tensor *tensor)
{
    return tensor != NULL ? (uint32_t)(tensor->offset / TAPML_DT_BYTES(tensor->dtype)) : 0;
}

// Views may merge axes: the strides here are the tensor's own. An axis of length 1 may have any,
// which nothing multiplies.
static uint32_t stride_of(const tapml_tensor *tensor, uint32_t axis)
{
    return tensor != NULL && tensor->shape[axis] > 1 ? (uint32_t)gpu_view_stride(tensor, axis) : 0;
}

// Whether kernels reach all elements of each of these tensors, NULL among them.
static tapml_status check_rows(struct gpu_queue *queue,
                               tapml_call *call,
                               const tapml_tensor *const *tensors,
                               uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct gpu_view view;

        if (tensors[i] != NULL) {
            GPU_TRY(gpu_view_rows(queue, call, tensors[i], &view));
        }
    }
    return TAPML_OK;
}

tapml_status gpu_op_conv1d_causal(TAPML_CONV1D_CAUSAL_PARAMS)
{
    struct gpu_queue *self = gpu_plan_begin(queue);
    const tapml_tensor *const tensors[] = {x, tail, y};
    struct gpu_view view;

    GPU_TRY(check_rows(self, call, tensors, 3));
    GPU_TRY(gpu_view_weight(self, call, w, &view));
    if (b != NULL) {
        GPU_TRY(gpu_view_weight(self, call, b, &view));
    }
    if (w->next != NULL || (b != NULL && b->next != NULL)) {
        return gpu_plan_refuse(self, call, "the kernel of a convolution in panels");
    }
    const uint32_t items = gpu_plan_items(self, ITEMS);
    const struct k_conv1d_causal_params params = {
        .x_at = at_of(x),
        .x_s = stride_of(x, 0),
        .y_at = at_of(y),
        .y_s = stride_of(y, 0),
        .tail_at = at_of(tail),
        .tail_s = stride_of(tail, 0),
        .w_at = at_of(w),
        .w_s = stride_of(w, 0),
        .w_kind = gpu_view_weight_kind(w),
        .b_at = at_of(b),
        .b_kind = gpu_view_weight_kind(b),
        .tokens = (uint32_t)x->shape[0],
        .width = (uint32_t)x->shape[1],
        .taps = (uint32_t)w->shape[1],
    };

    return gpu_plan_launch(self, call,
                           &(struct gpu_plan){
                               .kernel = "conv1d_causal",
                               .tune = {[K_CONV1D_CAUSAL_TUNE_WG_X] = items},
                               .tensors = {[K_CONV1D_CAUSAL_X] = x,
                                           [K_CONV1D_CAUSAL_W] = w,
                                           [K_CONV1D_CAUSAL_B] = b,
                                           [K_CONV1D_CAUSAL_TAIL] = tail,
                                           [K_CONV1D_CAUSAL_Y] = y},
                               .params = &params,
                               .groups = ((uint64_t)params.width + items - 1) / items,
                           });
}

// A tensor that is read by fewer heads, each by as many.
static int is_shared(const tapml_tensor *tensor, int64_t heads)
{
    return tensor->shape[1] > 0 && heads % tensor->shape[1] == 0;
}

static int is_wide(const tapml_tensor *tensor, int64_t width)
{
    return tensor->shape[2] == 1 || tensor->shape[2] == width;
}

#define HEADS(name, tensor)                                                                        \
    .name##_at = at_of(tensor), .name##_s0 = stride_of(tensor, 0), .name##_s1 = stride_of(tensor, 1)

tapml_status gpu_op_linear_scan(TAPML_LINEAR_SCAN_PARAMS)
{
    struct gpu_queue *self = gpu_plan_begin(queue);
    const tapml_tensor *const tensors[] = {r, w, k, v, kk, a, state, y};
    const int64_t heads = state->shape[0], width = state->shape[2];

    GPU_TRY(check_rows(self, call, tensors, 8));
    if (!is_shared(r, heads) || !is_shared(k, heads) || (kk != NULL && !is_shared(kk, heads))) {
        return gpu_plan_refuse(self, call, "%lld heads do not share those of r, k or kk",
                               (long long)heads);
    }
    if ((kk == NULL) != (a == NULL) || !is_wide(w, width) || (a != NULL && !is_wide(a, width))) {
        return gpu_plan_refuse(self, call, "decays and rates are 1 or %lld wide, kk comes with a",
                               (long long)width);
    }
    const struct k_linear_scan_params params = {
        HEADS(r, r),
        HEADS(w, w),
        HEADS(k, k),
        HEADS(v, v),
        HEADS(kk, kk),
        HEADS(a, a),
        HEADS(y, y),
        .state_at = at_of(state),
        .tokens = (uint32_t)y->shape[0],
        .heads = (uint32_t)heads,
        .r_heads = (uint32_t)r->shape[1],
        .k_heads = (uint32_t)k->shape[1],
        .kk_heads = kk != NULL ? (uint32_t)kk->shape[1] : 1,
        .rows = (uint32_t)state->shape[1],
        .width = (uint32_t)width,
        .w_step = w->shape[2] > 1,
        .a_step = a != NULL && a->shape[2] > 1,
        .flags = (kk != NULL ? REMOVES : 0u) | (read_before != 0 ? READS_BEFORE : 0u),
    };

    return gpu_plan_launch(self, call,
                           &(struct gpu_plan){
                               .kernel = "linear_scan",
                               .tune = {[K_LINEAR_SCAN_TUNE_WG_X] =
                                            gpu_plan_sum_items(self, params.width, SUM_ITEMS_MOST)},
                               .tensors = {[K_LINEAR_SCAN_R] = r,
                                           [K_LINEAR_SCAN_W] = w,
                                           [K_LINEAR_SCAN_K] = k,
                                           [K_LINEAR_SCAN_V] = v,
                                           [K_LINEAR_SCAN_KK] = kk,
                                           [K_LINEAR_SCAN_A] = a,
                                           [K_LINEAR_SCAN_STATE] = state,
                                           [K_LINEAR_SCAN_Y] = y},
                               .params = &params,
                               .groups = (uint64_t)params.heads * params.rows,
                           });
}

tapml_status gpu_op_wkv4(TAPML_WKV4_PARAMS)
{
    struct gpu_queue *self = gpu_plan_begin(queue);
    const tapml_tensor *const tensors[] = {w, u, k, v, state, y};

    GPU_TRY(check_rows(self, call, tensors, 6));
    const uint32_t items = gpu_plan_items(self, ITEMS);
    const struct k_wkv4_params params = {
        .w_at = at_of(w),
        .u_at = at_of(u),
        .k_at = at_of(k),
        .k_s = stride_of(k, 0),
        .v_at = at_of(v),
        .v_s = stride_of(v, 0),
        .y_at = at_of(y),
        .y_s = stride_of(y, 0),
        .state_at = at_of(state),
        .tokens = (uint32_t)y->shape[0],
        .width = (uint32_t)y->shape[1],
    };

    return gpu_plan_launch(self, call,
                           &(struct gpu_plan){
                               .kernel = "wkv4",
                               .tune = {[K_WKV4_TUNE_WG_X] = items},
                               .tensors = {[K_WKV4_W] = w,
                                           [K_WKV4_U] = u,
                                           [K_WKV4_K] = k,
                                           [K_WKV4_V] = v,
                                           [K_WKV4_STATE] = state,
                                           [K_WKV4_Y] = y},
                               .params = &params,
                               .groups = ((uint64_t)params.width + items - 1) / items,
                           });
}
