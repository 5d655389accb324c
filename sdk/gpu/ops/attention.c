// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "../ops.h"
#include "kparams.h"

#include <string.h>

// What `flags` holds, as in attention.k.
enum { CAUSAL = 1, SLOPES = 2, SLOPES_BF16 = 4, MASKED = 8, SINKS_SHIFT = 4 };

// Rows of a head are read from shared memory, padded to this many lane groups: fewer pipelines.
enum { WIDTH_STEP = 16 };

// Lane groups of heads that an item has in registers at most, with those of their sums.
enum { PARTS_MAX = 64 };

// The views of one attention.
struct heads {
    struct gpu_view q, k, v, y;
    uint32_t lanes;
};

static uint32_t pad(uint32_t width)
{
    return (width + WIDTH_STEP - 1) / WIDTH_STEP * WIDTH_STEP;
}

static tapml_status view_heads(struct gpu_queue *queue,
                               tapml_call *call,
                               const tapml_tensor *const tensors[4],
                               struct heads *out_heads)
{
    struct heads heads = {.lanes = 1};
    struct gpu_view *const views[] = {&heads.q, &heads.k, &heads.v, &heads.y};

    for (int i = 0; i < 4; i++) {
        GPU_TRY(i == 1 || i == 2 ? gpu_view_state_rows(queue, call, tensors[i], views[i])
                                 : gpu_view_rows(queue, call, tensors[i], views[i]));
    }
    if (gpu_view_is_x4(&heads.q) && gpu_view_is_x4(&heads.k) && gpu_view_is_x4(&heads.v) &&
        gpu_view_is_x4(&heads.y)) {
        heads.lanes = 4;
    }
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

// Heads that read the same rows of the state, where they come in groups of one size.
static uint32_t shared_heads(const struct k_attention_params *params)
{
    return params->heads % params->kv_heads == 0 ? params->heads / params->kv_heads : 1;
}

// One subgroup for each block of queries that see the same rows. `plan` has what all kernels have.
static tapml_status launch_lanes(struct gpu_queue *queue,
                                 tapml_call *call,
                                 const struct k_attention_params *params,
                                 struct gpu_plan plan)
{
    enum { QUERIES_MOST = 8 };
    const uint32_t items = queue->device->limits.subgroup_max;
    const uint32_t k_part = (params->k_width + items - 1) / items;
    const uint32_t v_part = (params->v_width + items - 1) / items;
    const uint32_t ratio = shared_heads(params), each = params->rows / params->heads * ratio;
    struct k_attention_lanes_params lanes_params = {.ratio = ratio};
    uint32_t queries = 1;

    while (queries < each && queries < QUERIES_MOST &&
           2 * queries * (k_part + v_part) <= PARTS_MAX) {
        queries *= 2;
    }
    memcpy(&lanes_params, params, sizeof(*params)); // What all kernels have stands first.
    plan.kernel = "attention_lanes";
    plan.variant |= K_V_SUBGROUP;
    plan.tune[K_ATTENTION_LANES_TUNE_WG_X] = items;
    plan.tune[K_ATTENTION_LANES_TUNE_QUERIES] = queries;
    plan.tune[K_ATTENTION_LANES_TUNE_K_PART] = k_part;
    plan.tune[K_ATTENTION_LANES_TUNE_V_PART] = v_part;
    plan.tune[K_ATTENTION_LANES_TUNE_PLAIN] =
        params->softcap <= 0 && (params->flags & (SLOPES | SLOPES_BF16 | MASKED)) == 0;
    plan.params = &lanes_params;
    plan.groups = (uint64_t)((each + queries - 1) / queries) * (params->heads / ratio);
    return gpu_plan_launch(queue, call, &plan);
}

// One workgroup for each query.
static tapml_status launch_groups(struct gpu_queue *queue,
                                  tapml_call *call,
                                  const struct k_attention_params *params,
                                  struct gpu_plan plan)
{
    enum { ITEMS = 64, CHUNK = 64 };
    const uint32_t items = gpu_plan_sum_items(queue, ITEMS, ITEMS);
    const uint32_t lanes = (plan.variant & K_V_X4) != 0 ? 4 : 1;
    const uint32_t k_padded = pad(params->k_width), v_padded = pad(params->v_width);
    const uint64_t words = ((uint64_t)k_padded + v_padded) * lanes + items + CHUNK;

    if (words * 4 > queue->device->limits.shared_bytes) {
        return gpu_plan_refuse(queue, call, "heads of %u and %u need %llu bytes of shared memory",
                               params->k_width * lanes, params->v_width * lanes,
                               (unsigned long long)words * 4);
    }
    plan.kernel = "attention";
    plan.tune[K_ATTENTION_TUNE_WG_X] = items;
    plan.tune[K_ATTENTION_TUNE_CHUNK] = CHUNK;
    plan.tune[K_ATTENTION_TUNE_K_WIDTH] = k_padded;
    plan.tune[K_ATTENTION_TUNE_V_WIDTH] = v_padded;
    plan.params = params;
    plan.groups = params->rows;
    return gpu_plan_launch(queue, call, &plan);
}

static int fits_lanes(const struct gpu_device *device, const struct k_attention_params *params)
{
    return device->tile == GPU_TILE_LANES &&
           params->k_width <= PARTS_MAX / 2 * device->limits.subgroup_max &&
           params->v_width <= PARTS_MAX / 2 * device->limits.subgroup_max;
}

tapml_status gpu_op_attention(TAPML_ATTENTION_PARAMS)
{
    struct gpu_queue *self = gpu_plan_begin(queue);
    const tapml_tensor *const tensors[] = {q, k_state, v_state, y};
    struct heads heads;
    uint32_t variant = K_V_BASE;

    GPU_TRY(view_heads(self, call, tensors, &heads));
    GPU_TRY(gpu_view_state(self, call, q->dtype, k_state, &variant));
    const uint32_t lanes = heads.lanes;
    struct k_attention_params params = {
        HEADS(q, q, heads.q, lanes),
        HEADS(k, k_state, heads.k, lanes),
        HEADS(v, v_state, heads.v, lanes),
        HEADS(y, y, heads.y, lanes),
        .rows = heads.q.rows,
        .heads = (uint32_t)q->shape[1],
        .kv_heads = (uint32_t)k_state->shape[1],
        .k_width = heads.q.width / lanes,
        .v_width = heads.y.width / lanes,
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

    if (k_state->encoding != NULL) {
        params.k_at = gpu_view_state_word(k_state);
        params.v_at = gpu_view_state_word(v_state);
    }

    const struct gpu_plan plan = {
        .variant = variant | (lanes == 4 ? K_V_X4 : K_V_BASE),
        .tensors = {[K_ATTENTION_Q] = q,
                    [K_ATTENTION_K] = k_state,
                    [K_ATTENTION_V] = v_state,
                    [K_ATTENTION_SLOPES] = slopes,
                    [K_ATTENTION_SINKS] = sinks,
                    [K_ATTENTION_MASK] = key_mask,
                    [K_ATTENTION_Y] = y},
    };

    return fits_lanes(self->device, &params) ? launch_lanes(self, call, &params, plan)
                                             : launch_groups(self, call, &params, plan);
}
