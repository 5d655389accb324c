// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "../ops.h"
#include "../tiles.h"
#include "kparams.h"

enum { ITEMS = 64 };

// What route_softmax and route_topk launch. `over_all` is not 0 where weights are parts of the sum
// over all experts.
static tapml_status route(struct gpu_queue *queue,
                          tapml_call *call,
                          const tapml_tensor *scores,
                          const tapml_tensor *indices,
                          const tapml_tensor *weights,
                          int over_all)
{
    const uint32_t items = gpu_plan_items(queue, ITEMS);
    struct gpu_view sv;

    GPU_TRY(gpu_view_rows(queue, call, scores, &sv));
    const struct k_route_params params = {
        GPU_VIEW(scores, sv, 1),
        .tokens = sv.rows,
        .experts = sv.width,
        .chosen = (uint32_t)indices->shape[1],
        .over_all = over_all != 0,
        .indices_at = (uint32_t)(indices->offset / sizeof(int32_t)),
        .weights_at = (uint32_t)(weights->offset / TAPML_DT_BYTES(weights->dtype)),
    };

    return gpu_plan_launch(queue, call,
                           &(struct gpu_plan){
                               .kernel = "route",
                               .tune = {[K_ROUTE_TUNE_WG_X] = items},
                               .tensors = {[K_ROUTE_SCORES] = scores,
                                           [K_ROUTE_INDICES] = indices,
                                           [K_ROUTE_WEIGHTS] = weights},
                               .params = &params,
                               .groups = ((uint64_t)sv.rows + items - 1) / items,
                           });
}

tapml_status gpu_op_route_softmax(TAPML_ROUTE_SOFTMAX_PARAMS)
{
    return route(gpu_plan_begin(queue), call, scores, indices, weights, renormalise == 0);
}

tapml_status gpu_op_route_topk(TAPML_ROUTE_TOPK_PARAMS)
{
    return route(gpu_plan_begin(queue), call, scores, indices, weights, 0);
}

// What route_groups and route_sigmoid launch. `params` has what only one of them knows.
struct groups {
    const tapml_tensor *scores, *bias, *indices, *weights;
    struct k_route_groups_params params;
};

static tapml_status route_groups(struct gpu_queue *queue, tapml_call *call, struct groups *groups)
{
    const uint32_t items = gpu_plan_items(queue, ITEMS);
    struct k_route_groups_params *params = &groups->params;
    struct gpu_view sv, bv = {0};

    GPU_TRY(gpu_view_rows(queue, call, groups->scores, &sv));
    if (groups->bias != NULL) {
        GPU_TRY(gpu_view_weight(queue, call, groups->bias, &bv));
    }
    params->scores_at = sv.at;
    params->scores_n = sv.n;
    params->scores_s0 = sv.s0;
    params->scores_s1 = sv.s1;
    params->b_at = bv.at;
    params->b_kind = gpu_view_weight_kind(groups->bias);
    params->tokens = (uint32_t)groups->scores->shape[0];
    params->groups = (uint32_t)groups->scores->shape[1];
    params->size = sv.width;
    params->chosen = (uint32_t)groups->indices->shape[1];
    params->indices_at = (uint32_t)(groups->indices->offset / sizeof(int32_t));
    params->weights_at =
        (uint32_t)(groups->weights->offset / TAPML_DT_BYTES(groups->weights->dtype));
    return gpu_plan_launch(queue, call,
                           &(struct gpu_plan){
                               .kernel = "route_groups",
                               .tune = {[K_ROUTE_GROUPS_TUNE_WG_X] = items},
                               .tensors = {[K_ROUTE_GROUPS_SCORES] = groups->scores,
                                           [K_ROUTE_GROUPS_B] = groups->bias,
                                           [K_ROUTE_GROUPS_INDICES] = groups->indices,
                                           [K_ROUTE_GROUPS_WEIGHTS] = groups->weights},
                               .params = params,
                               .groups = ((uint64_t)params->tokens + items - 1) / items,
                           });
}

tapml_status gpu_op_route_groups(TAPML_ROUTE_GROUPS_PARAMS)
{
    return route_groups(gpu_plan_begin(queue), call,
                        &(struct groups){scores, NULL, indices, weights,
                                         .params = {.kept = (uint32_t)kept, .is_softmax = 1}});
}

tapml_status gpu_op_route_sigmoid(TAPML_ROUTE_SIGMOID_PARAMS)
{
    return route_groups(
        gpu_plan_begin(queue), call,
        &(struct groups){scores, bias, indices, weights,
                         .params = {.kept = (uint32_t)kept, .renormalises = renormalise != 0}});
}

tapml_status gpu_op_route_biased(TAPML_ROUTE_BIASED_PARAMS)
{
    struct gpu_queue *self = gpu_plan_begin(queue);
    const uint32_t items = gpu_plan_items(self, ITEMS);
    struct gpu_view sv, bv = {0};

    GPU_TRY(gpu_view_rows(self, call, scores, &sv));
    if (bias != NULL) {
        GPU_TRY(gpu_view_weight(self, call, bias, &bv));
    }
    const struct k_route_biased_params params = {
        GPU_VIEW(scores, sv, 1),
        .b_at = bv.at,
        .b_kind = gpu_view_weight_kind(bias),
        .tokens = sv.rows,
        .experts = sv.width,
        .chosen = (uint32_t)k,
        .least = (float)least,
        .indices_at = (uint32_t)(indices->offset / sizeof(int32_t)),
        .weights_at = (uint32_t)(weights->offset / TAPML_DT_BYTES(weights->dtype)),
    };

    return gpu_plan_launch(self, call,
                           &(struct gpu_plan){
                               .kernel = "route_biased",
                               .tune = {[K_ROUTE_BIASED_TUNE_WG_X] = items},
                               .tensors = {[K_ROUTE_BIASED_SCORES] = scores,
                                           [K_ROUTE_BIASED_B] = bias,
                                           [K_ROUTE_BIASED_INDICES] = indices,
                                           [K_ROUTE_BIASED_WEIGHTS] = weights},
                               .params = &params,
                               .groups = ((uint64_t)sv.rows + items - 1) / items,
                           });
}

tapml_status gpu_op_route_sparsemixer(TAPML_ROUTE_SPARSEMIXER_PARAMS)
{
    struct gpu_queue *self = gpu_plan_begin(queue);
    const uint32_t items = gpu_plan_items(self, ITEMS);
    struct gpu_view sv;

    GPU_TRY(gpu_view_rows(self, call, scores, &sv));
    const struct k_route_sparsemixer_params params = {
        GPU_VIEW(scores, sv, 1),
        .tokens = sv.rows,
        .experts = sv.width,
        .chosen = (uint32_t)k,
        .jitter = (float)jitter,
        .indices_at = (uint32_t)(indices->offset / sizeof(int32_t)),
        .weights_at = (uint32_t)(weights->offset / TAPML_DT_BYTES(weights->dtype)),
    };

    return gpu_plan_launch(self, call,
                           &(struct gpu_plan){
                               .kernel = "route_sparsemixer",
                               .tune = {[K_ROUTE_SPARSEMIXER_TUNE_WG_X] = items},
                               .tensors = {[K_ROUTE_SPARSEMIXER_SCORES] = scores,
                                           [K_ROUTE_SPARSEMIXER_INDICES] = indices,
                                           [K_ROUTE_SPARSEMIXER_WEIGHTS] = weights},
                               .params = &params,
                               .groups = ((uint64_t)sv.rows + items - 1) / items,
                           });
}

// Everything but the expert's own weights.
struct choice {
    const tapml_tensor *x, *indices, *y;
    struct k_linear_experts_params params;
};

static tapml_status launch_expert(struct gpu_queue *queue,
                                  tapml_call *call,
                                  struct choice *choice,
                                  const tapml_tensor *w,
                                  const tapml_tensor *b,
                                  int64_t transposed)
{
    const uint32_t items = gpu_plan_items(queue, ITEMS);
    struct k_linear_experts_params *params = &choice->params;
    struct gpu_view wv, bv = {0};

    if (w->next != NULL) {
        return gpu_plan_refuse(queue, call, "an expert's weight in several panels");
    }
    GPU_TRY(gpu_view_weight(queue, call, w, &wv));
    if (b != NULL) {
        GPU_TRY(gpu_view_weight(queue, call, b, &bv));
    }
    const struct gpu_blocks blocks = gpu_view_blocks(w);

    params->w_quants = blocks.quants;
    params->w_highs = blocks.highs;
    params->w_scales = blocks.scales;
    params->w_mins = blocks.mins;
    params->w_form = blocks.form;
    params->w_across = blocks.across;
    params->transposed = transposed != 0;
    params->w_at = wv.at;
    params->w_n = transposed != 0 ? 1 : gpu_view_weight_stride(w);
    params->w_i = transposed != 0 ? gpu_view_weight_stride(w) : 1;
    params->w_kind = gpu_view_weight_kind(w);
    params->b_at = bv.at;
    params->b_kind = gpu_view_weight_kind(b);
    return gpu_plan_launch(queue, call,
                           &(struct gpu_plan){
                               .kernel = "linear_experts",
                               .tune = {[K_LINEAR_EXPERTS_TUNE_WG_X] = items,
                                        [K_LINEAR_EXPERTS_TUNE_QUANTS] = gpu_tiles_quants(&blocks)},
                               .tensors = {[K_LINEAR_EXPERTS_X] = choice->x,
                                           [K_LINEAR_EXPERTS_INDICES] = choice->indices,
                                           [K_LINEAR_EXPERTS_W] = w,
                                           [K_LINEAR_EXPERTS_B] = b,
                                           [K_LINEAR_EXPERTS_Y] = choice->y},
                               .params = params,
                               .groups = ((uint64_t)params->count + items - 1) / items,
                           });
}

// A launch for each expert: which of them a token takes is known on the device alone.
tapml_status gpu_op_linear_experts(TAPML_LINEAR_EXPERTS_PARAMS)
{
    struct gpu_queue *self = gpu_plan_begin(queue);
    struct gpu_view xv, yv;

    GPU_TRY(gpu_view_rows(self, call, x, &xv));
    GPU_TRY(gpu_view_rows(self, call, y, &yv));
    if (x->shape[1] != 1 && x->shape[1] != y->shape[1]) {
        return gpu_plan_refuse(self, call, "%lld rows of a token for %lld experts",
                               (long long)x->shape[1], (long long)y->shape[1]);
    }
    struct choice choice = {x, indices, y,
                            .params = {
                                GPU_VIEW(x, xv, 1),
                                GPU_VIEW(y, yv, 1),
                                .indices_at = (uint32_t)(indices->offset / sizeof(int32_t)),
                                .slots = (uint32_t)x->shape[1],
                                .chosen = (uint32_t)y->shape[1],
                                .width = xv.width,
                                .outputs = yv.width,
                                .last = (uint32_t)(w_count - 1),
                                .count = yv.rows * yv.width,
                            }};

    for (uint64_t e = 0; e < w_count; e++) {
        choice.params.expert = (uint32_t)e;
        GPU_TRY(launch_expert(self, call, &choice, w[e], e < b_count ? b[e] : NULL, transposed));
    }
    return TAPML_OK;
}

tapml_status gpu_op_weighted_sum(TAPML_WEIGHTED_SUM_PARAMS)
{
    struct gpu_queue *self = gpu_plan_begin(queue);
    const uint32_t items = gpu_plan_items(self, ITEMS);
    struct gpu_view xv, wv, yv;

    GPU_TRY(gpu_view_rows(self, call, x, &xv));
    GPU_TRY(gpu_view_rows(self, call, weights, &wv));
    GPU_TRY(gpu_view_rows(self, call, y, &yv));
    const struct k_weighted_sum_params params = {
        GPU_VIEW(x, xv, 1), GPU_VIEW(weights, wv, 1),
        GPU_VIEW(y, yv, 1), .chosen = (uint32_t)x->shape[1],
        .width = yv.width,  .count = yv.rows * yv.width,
    };

    return gpu_plan_launch(self, call,
                           &(struct gpu_plan){
                               .kernel = "weighted_sum",
                               .tune = {[K_WEIGHTED_SUM_TUNE_WG_X] = items},
                               .tensors = {[K_WEIGHTED_SUM_X] = x,
                                           [K_WEIGHTED_SUM_WEIGHTS] = weights,
                                           [K_WEIGHTED_SUM_Y] = y},
                               .params = &params,
                               .groups = ((uint64_t)params.count + items - 1) / items,
                           });
}
