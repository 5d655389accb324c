// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "../ops.h"
#include "kparams.h"

// What `flags` holds, as in attention.k.
enum { CAUSAL = 1, SLOPES = 2, SLOPES_BF16 = 4, MASKED = 8, SINKS_SHIFT = 4 };

// Rows of a head are read from shared memory, padded to this many lane groups: fewer pipelines.
enum { WIDTH_STEP = 16 };

// The views of one attention, and what they give.
struct heads {
    struct gpu_view q, k, v, y;
    uint32_t lanes, k_width, v_width; // Widths in lane groups,
    uint32_t k_padded, v_padded;      // and as shared memory has them.
    uint32_t items, chunk;
};

static uint32_t pad(uint32_t width)
{
    return (width + WIDTH_STEP - 1) / WIDTH_STEP * WIDTH_STEP;
}

static tapml_status size_heads(struct gpu_queue *queue, tapml_call *call, struct heads *heads)
{
    enum { ITEMS = 64, CHUNK = 64 };
    const int is_x4 = gpu_view_is_x4(&heads->q) && gpu_view_is_x4(&heads->k) &&
                      gpu_view_is_x4(&heads->v) && gpu_view_is_x4(&heads->y);

    heads->lanes = is_x4 ? 4 : 1;
    heads->k_width = heads->q.width / heads->lanes;
    heads->v_width = heads->y.width / heads->lanes;
    heads->k_padded = pad(heads->k_width);
    heads->v_padded = pad(heads->v_width);
    heads->items = gpu_plan_sum_items(queue, ITEMS, ITEMS);
    heads->chunk = CHUNK;
    const uint64_t words =
        ((uint64_t)heads->k_padded + heads->v_padded) * heads->lanes + heads->items + heads->chunk;

    if (words * 4 > queue->device->limits.shared_bytes) {
        return gpu_plan_refuse(queue, call, "heads of %u and %u need %llu bytes of shared memory",
                               heads->q.width, heads->y.width, (unsigned long long)words * 4);
    }
    return TAPML_OK;
}

static tapml_status view_heads(struct gpu_queue *queue,
                               tapml_call *call,
                               const tapml_tensor *const tensors[4],
                               struct heads *out_heads)
{
    struct heads heads = {0};
    struct gpu_view *const views[] = {&heads.q, &heads.k, &heads.v, &heads.y};

    for (int i = 0; i < 4; i++) {
        GPU_TRY(gpu_view_rows(queue, call, tensors[i], views[i]));
    }
    GPU_TRY(size_heads(queue, call, &heads));
    *out_heads = heads;
    return TAPML_OK;
}

static uint32_t element_of(const tapml_tensor *tensor)
{
    return tensor != NULL ? (uint32_t)(tensor->offset / TAPML_DT_BYTES(tensor->dtype)) : 0;
}

// A tensor of (token or position, head, value) as HEADS in attention.k. The axes may have been
// merged in its view, so the strides are its own.
#define HEADS(name, tensor, view, lanes)                                                           \
    .name##_at = (view).at / (lanes), .name##_s0 = stride_of(tensor, 0) / (lanes),                 \
    .name##_s1 = stride_of(tensor, 1) / (lanes)

// An axis of length 1 may have any stride, which nothing multiplies.
static uint32_t stride_of(const tapml_tensor *tensor, uint32_t axis)
{
    return tensor->shape[axis] > 1 ? (uint32_t)gpu_view_stride(tensor, axis) : 0;
}

tapml_status gpu_op_attention(TAPML_ATTENTION_PARAMS)
{
    struct gpu_queue *self = gpu_plan_begin(queue);
    const tapml_tensor *const tensors[] = {q, k_state, v_state, y};
    struct heads heads;

    GPU_TRY(view_heads(self, call, tensors, &heads));
    const uint32_t lanes = heads.lanes;
    const struct k_attention_params params = {
        HEADS(q, q, heads.q, lanes),
        HEADS(k, k_state, heads.k, lanes),
        HEADS(v, v_state, heads.v, lanes),
        HEADS(y, y, heads.y, lanes),
        .rows = heads.q.rows,
        .heads = (uint32_t)q->shape[1],
        .kv_heads = (uint32_t)k_state->shape[1],
        .k_width = heads.k_width,
        .v_width = heads.v_width,
        .first = (uint32_t)position,
        .stored = (uint32_t)(position + q->shape[0]),
        .window = (uint32_t)window,
        .chunk = (uint32_t)chunk,
        .flags = (causal != 0 ? CAUSAL : 0u) |
                 (slopes == NULL    ? 0u
                  : alibi_bf16 != 0 ? SLOPES_BF16
                                    : SLOPES) |
                 (key_mask != NULL ? MASKED : 0u) | gpu_view_weight_kind(sinks) << SINKS_SHIFT,
        .slopes_at = element_of(slopes),
        .sinks_at = element_of(sinks),
        .mask_at = element_of(key_mask),
        .scale = (float)scale,
        .softcap = (float)softcap,
    };

    return gpu_plan_launch(self, call,
                           &(struct gpu_plan){
                               .kernel = "attention",
                               .variant = lanes == 4 ? K_V_X4 : K_V_BASE,
                               .tune = {[K_ATTENTION_TUNE_WG_X] = heads.items,
                                        [K_ATTENTION_TUNE_CHUNK] = heads.chunk,
                                        [K_ATTENTION_TUNE_K_WIDTH] = heads.k_padded,
                                        [K_ATTENTION_TUNE_V_WIDTH] = heads.v_padded},
                               .tensors = {[K_ATTENTION_Q] = q,
                                           [K_ATTENTION_K] = k_state,
                                           [K_ATTENTION_V] = v_state,
                                           [K_ATTENTION_SLOPES] = slopes,
                                           [K_ATTENTION_SINKS] = sinks,
                                           [K_ATTENTION_MASK] = key_mask,
                                           [K_ATTENTION_Y] = y},
                               .params = &params,
                               .groups = heads.q.rows,
                           });
}
