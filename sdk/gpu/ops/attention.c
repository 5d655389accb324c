// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "../ops.h"
#include "../tuning.h"
#include "kparams.h"

#include <stdio.h>
#include <string.h>

// What `flags` holds, as in attention.k.
enum { CAUSAL = 1, SLOPES = 2, SLOPES_BF16 = 4, MASKED = 8, SINKS_SHIFT = 4 };

// Rows of a head are read from shared memory, padded to this many lane groups: fewer pipelines.
enum { WIDTH_STEP = 16 };

// Lane groups of heads that an item has in registers at most, with those of their sums.
enum { PARTS_MAX = 64 };

// The views of one attention, and what is looked at when its launch is chosen.
struct heads {
    struct gpu_view q, k, v, y;
    int is_x4;           // Elements can be read four at a time.
    uint32_t variant;    // Of the state.
    uint32_t rows, each; // Queries of all heads, and those that see the same rows.
    uint32_t stored;     // Rows that can be seen.
    uint32_t ratio;      // Heads that read the same rows.
};

// The knobs, in the order of gpu_attention_knobs; those that a form does not use are 0.
enum { FORM, WIDTH, ITEMS, CHUNK, QUERIES };

enum { FORM_GROUPS = 1, FORM_LANES };

const struct gpu_knob gpu_attention_knobs[GPU_ATTENTION_KNOBS] = {
    GPU_KNOB("form", "1 a query by a group, 2 queries by a subgroup", 1, 2),
    GPU_KNOB("width", "elements that are read at once", 1, 4),
    GPU_KNOB("items", "work items of a group", 1, 4, 8, 16, 32, 64, 128, 256),
    GPU_KNOB("chunk", "rows of the state between two sums", 0, 8, 16, 32, 64, 128, 256),
    GPU_KNOB("queries", "queries of an item", 0, 1, 2, 4, 8, 16),
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
    struct heads heads = {.is_x4 = 0};
    struct gpu_view *const views[] = {&heads.q, &heads.k, &heads.v, &heads.y};

    for (int i = 0; i < 4; i++) {
        GPU_TRY(i == 1 || i == 2 ? gpu_view_state_rows(queue, call, tensors[i], views[i])
                                 : gpu_view_rows(queue, call, tensors[i], views[i]));
    }
    heads.is_x4 = gpu_view_is_x4(&heads.q) && gpu_view_is_x4(&heads.k) &&
                  gpu_view_is_x4(&heads.v) && gpu_view_is_x4(&heads.y);
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

// Heads that read the same rows of the state do so together where they come in groups of one size.
static void count_heads(const tapml_tensor *q,
                        const tapml_tensor *k_state,
                        int64_t position,
                        uint32_t variant,
                        struct heads *heads)
{
    const uint32_t count = (uint32_t)q->shape[1], kv_count = (uint32_t)k_state->shape[1];

    heads->variant = variant;
    heads->rows = heads->q.rows;
    heads->ratio = kv_count > 0 && count % kv_count == 0 ? count / kv_count : 1;
    heads->each = count > 0 ? heads->rows / count * heads->ratio : 0;
    heads->stored = (uint32_t)(position + q->shape[0]);
}

// -- What can be chosen ------------------------------------------------------------------------

static uint32_t power_above(uint32_t value, uint32_t most)
{
    uint32_t power = 1;

    while (power < value && power < most) {
        power *= 2;
    }
    return power;
}

static void print_class(const struct gpu_queue *queue,
                        const void *subject,
                        char out_class[TAPML_TUNING_CLASS_BYTES])
{
    enum { ROWS_MOST = 4096 };
    const struct heads *heads = subject;

    (void)snprintf(out_class, TAPML_TUNING_CLASS_BYTES,
                   "s=%u,%s,x=%d,k=%u,v=%u,ratio=%u,rows=%u,each=%u,stored=%u", heads->variant,
                   queue->half != 0 ? "f16" : "f32", heads->is_x4 ? 4 : 1, heads->q.width,
                   heads->y.width, heads->ratio, power_above(heads->rows, ROWS_MOST),
                   power_above(heads->each, ROWS_MOST), power_above(heads->stored, ROWS_MOST));
}

static uint32_t variant_of(const struct heads *heads, uint32_t width)
{
    return heads->variant | (width == 4 ? K_V_X4 : K_V_BASE);
}

// Shared memory of a group: a head of each kind, a weight for each row of a chunk, and a sum.
static uint64_t group_bytes(const struct heads *heads, const uint32_t *v)
{
    const uint64_t widths =
        (uint64_t)pad(heads->q.width / v[WIDTH]) + pad(heads->y.width / v[WIDTH]);

    return (widths * v[WIDTH] + v[ITEMS] + v[CHUNK]) * 4;
}

// Lane groups of the heads that an item has of `items`.
static uint32_t part_of(const struct gpu_view *view, const uint32_t *v)
{
    return (view->width / v[WIDTH] + v[ITEMS] - 1) / v[ITEMS];
}

static int
is_legal_groups(const struct gpu_queue *queue, const struct heads *heads, const uint32_t *v)
{
    enum { SERIAL_ITEMS_MOST = 16 };
    const struct gpu_limits *limits = &queue->device->limits;
    const int is_serial = (limits->features & GPU_FEATURE_SERIAL) != 0;

    return v[CHUNK] != 0 && v[QUERIES] == 0 && v[ITEMS] <= limits->group_items &&
           (!is_serial || v[ITEMS] <= SERIAL_ITEMS_MOST) &&
           group_bytes(heads, v) <= limits->shared_bytes &&
           gpu_plan_has(queue, "attention", variant_of(heads, v[WIDTH]));
}

static int
is_legal_lanes(const struct gpu_queue *queue, const struct heads *heads, const uint32_t *v)
{
    const struct gpu_limits *limits = &queue->device->limits;
    const int has_lanes = (limits->features & GPU_FEATURE_SUBGROUP) != 0 &&
                          limits->subgroup_min == limits->subgroup_max;

    if (!has_lanes || v[CHUNK] != 0 || v[QUERIES] == 0 || v[ITEMS] != limits->subgroup_max) {
        return 0;
    }
    const uint32_t k_part = part_of(&heads->q, v), v_part = part_of(&heads->y, v);

    return k_part <= PARTS_MAX / 2 && v_part <= PARTS_MAX / 2 &&
           (v[QUERIES] == 1 || v[QUERIES] * (k_part + v_part) <= PARTS_MAX) &&
           v[QUERIES] < 2 * heads->each &&
           gpu_plan_has(queue, "attention_lanes", variant_of(heads, v[WIDTH]) | K_V_SUBGROUP);
}

static int is_legal(const struct gpu_queue *queue, const void *subject, const uint32_t *v)
{
    const struct heads *heads = subject;

    if (v[WIDTH] == 4 && !heads->is_x4) {
        return 0;
    }
    return v[FORM] == FORM_GROUPS ? is_legal_groups(queue, heads, v)
                                  : is_legal_lanes(queue, heads, v);
}

// -- What is chosen without the host -----------------------------------------------------------

// One workgroup for each query.
static void choose_groups(const struct gpu_queue *queue, uint32_t *out)
{
    enum { MOST = 64, CHUNK_ROWS = 64 };

    out[FORM] = FORM_GROUPS;
    out[ITEMS] = gpu_plan_sum_items(queue, MOST, MOST);
    out[CHUNK] = CHUNK_ROWS;
}

// One subgroup for each block of queries that see the same rows.
static void choose_lanes(const struct gpu_queue *queue, const struct heads *heads, uint32_t *out)
{
    enum { QUERIES_MOST = 8 };

    out[FORM] = FORM_LANES;
    out[ITEMS] = queue->device->limits.subgroup_max;
    const uint32_t parts = part_of(&heads->q, out) + part_of(&heads->y, out);

    out[QUERIES] = 1;
    while (out[QUERIES] < heads->each && out[QUERIES] < QUERIES_MOST &&
           2 * out[QUERIES] * parts <= PARTS_MAX) {
        out[QUERIES] *= 2;
    }
}

static int fits_lanes(const struct gpu_device *device, const struct heads *heads, uint32_t width)
{
    return device->tile == GPU_TILE_LANES &&
           heads->q.width / width <= PARTS_MAX / 2 * device->limits.subgroup_max &&
           heads->y.width / width <= PARTS_MAX / 2 * device->limits.subgroup_max;
}

static void choose(struct gpu_queue *queue, const struct heads *heads, uint32_t *out)
{
    out[WIDTH] = heads->is_x4 ? 4 : 1;
    if (fits_lanes(queue->device, heads, out[WIDTH])) {
        choose_lanes(queue, heads, out);
    } else {
        choose_groups(queue, out);
    }
    gpu_tuning_choose(queue,
                      &(struct gpu_choice){.op = "tapml.attention",
                                           .knobs = gpu_attention_knobs,
                                           .count = GPU_ATTENTION_KNOBS,
                                           .subject = heads,
                                           .print_class = print_class,
                                           .is_legal = is_legal},
                      out);
}

// -- Launches ----------------------------------------------------------------------------------

// `plan` has what all kernels have.
static tapml_status launch_lanes(struct gpu_queue *queue,
                                 tapml_call *call,
                                 const struct k_attention_params *params,
                                 const struct heads *heads,
                                 const uint32_t *chosen,
                                 struct gpu_plan plan)
{
    struct k_attention_lanes_params lanes_params = {.ratio = heads->ratio};

    memcpy(&lanes_params, params, sizeof(*params)); // What all kernels have stands first.
    plan.kernel = "attention_lanes";
    plan.variant |= K_V_SUBGROUP;
    plan.tune[K_ATTENTION_LANES_TUNE_WG_X] = chosen[ITEMS];
    plan.tune[K_ATTENTION_LANES_TUNE_QUERIES] = chosen[QUERIES];
    plan.tune[K_ATTENTION_LANES_TUNE_K_PART] = part_of(&heads->q, chosen);
    plan.tune[K_ATTENTION_LANES_TUNE_V_PART] = part_of(&heads->y, chosen);
    plan.tune[K_ATTENTION_LANES_TUNE_PLAIN] =
        params->softcap <= 0 && (params->flags & (SLOPES | SLOPES_BF16 | MASKED)) == 0;
    plan.params = &lanes_params;
    plan.groups = (uint64_t)((heads->each + chosen[QUERIES] - 1) / chosen[QUERIES]) *
                  (params->heads / heads->ratio);
    return gpu_plan_launch(queue, call, &plan);
}

static tapml_status launch_groups(struct gpu_queue *queue,
                                  tapml_call *call,
                                  const struct k_attention_params *params,
                                  const struct heads *heads,
                                  const uint32_t *chosen,
                                  struct gpu_plan plan)
{
    const uint64_t bytes = group_bytes(heads, chosen);

    if (bytes > queue->device->limits.shared_bytes) {
        return gpu_plan_refuse(queue, call, "heads of %u and %u need %llu bytes of shared memory",
                               heads->q.width, heads->y.width, (unsigned long long)bytes);
    }
    plan.kernel = "attention";
    plan.tune[K_ATTENTION_TUNE_WG_X] = chosen[ITEMS];
    plan.tune[K_ATTENTION_TUNE_CHUNK] = chosen[CHUNK];
    plan.tune[K_ATTENTION_TUNE_K_WIDTH] = pad(params->k_width);
    plan.tune[K_ATTENTION_TUNE_V_WIDTH] = pad(params->v_width);
    plan.params = params;
    plan.groups = params->rows;
    return gpu_plan_launch(queue, call, &plan);
}

tapml_status gpu_op_attention(TAPML_ATTENTION_PARAMS)
{
    struct gpu_queue *self = gpu_plan_begin(queue);
    const tapml_tensor *const tensors[] = {q, k_state, v_state, y};
    struct heads heads;
    uint32_t variant = K_V_BASE, chosen[GPU_ATTENTION_KNOBS] = {0};

    GPU_TRY(view_heads(self, call, tensors, &heads));
    GPU_TRY(gpu_view_state(self, call, q->dtype, k_state, &variant));
    count_heads(q, k_state, position, variant, &heads);
    choose(self, &heads, chosen);
    const uint32_t lanes = chosen[WIDTH];
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
        .variant = variant_of(&heads, lanes),
        .tensors = {[K_ATTENTION_Q] = q,
                    [K_ATTENTION_K] = k_state,
                    [K_ATTENTION_V] = v_state,
                    [K_ATTENTION_SLOPES] = slopes,
                    [K_ATTENTION_SINKS] = sinks,
                    [K_ATTENTION_MASK] = key_mask,
                    [K_ATTENTION_Y] = y},
    };

    return chosen[FORM] == FORM_LANES ? launch_lanes(self, call, &params, &heads, chosen, plan)
                                      : launch_groups(self, call, &params, &heads, chosen, plan);
}
