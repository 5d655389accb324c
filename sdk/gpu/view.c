// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "objects.h"
#include "tiles.h"

#include <tapml/gpu/view.h>

#include <string.h>

int64_t gpu_view_stride(const tapml_tensor *tensor, uint32_t axis)
{
    int64_t stride = 1;

    if (tensor->stride != NULL) {
        return tensor->stride[axis];
    }
    for (uint32_t inner = axis + 1; inner < tensor->rank; inner++) {
        stride *= tensor->shape[inner];
    }
    return stride;
}

uint32_t gpu_view_weight_stride(const tapml_tensor *weight)
{
    return (uint32_t)(gpu_tiles_are_in(weight->encoding) ? gpu_tiles_stride(weight)
                                                         : gpu_view_stride(weight, 0));
}

// Moves `last`, the index of the last element so far, along an axis. Kernels count in 32 bits.
static tapml_status
reach(struct gpu_queue *queue, tapml_call *call, uint64_t *last, int64_t length, int64_t stride)
{
    if (stride < 0) {
        return gpu_plan_refuse(queue, call, "a negative stride");
    }
    if (length > UINT32_MAX || stride > UINT32_MAX ||
        (length > 1 && (uint64_t)(length - 1) * (uint64_t)stride > UINT32_MAX - *last)) {
        return gpu_plan_refuse(queue, call, "an index of 33 bits or more, kernels have 32");
    }
    *last += length > 1 ? (uint64_t)(length - 1) * (uint64_t)stride : 0;
    return TAPML_OK;
}

// Where the tensor begins, in elements.
static tapml_status
begin(struct gpu_queue *queue, tapml_call *call, const tapml_tensor *tensor, uint64_t *out_at)
{
    const uint64_t at = tensor->offset / TAPML_DT_BYTES(tensor->dtype);

    if (tensor->encoding != NULL) {
        return gpu_plan_refuse(queue, call, "encoding '%s', plain tensors only",
                               tensor->encoding->id);
    }
    if (at > UINT32_MAX) {
        return gpu_plan_refuse(queue, call, "an index of 33 bits or more, kernels have 32");
    }
    *out_at = at;
    return TAPML_OK;
}

// The outer axes, innermost first, without those of length 1 and with those merged that continue
// each other. Returns how many are left.
static uint32_t merge_outer(const tapml_tensor *tensor, int64_t *length, int64_t *stride)
{
    uint32_t count = 0;

    for (uint32_t axis = tensor->rank - 1; axis-- > 0;) {
        const int64_t n = tensor->shape[axis], s = gpu_view_stride(tensor, axis);

        if (n == 1) {
            continue;
        }
        if (count > 0 && s == stride[count - 1] * length[count - 1]) {
            length[count - 1] *= n;
        } else {
            length[count] = n;
            stride[count++] = s;
        }
    }
    return count;
}

static tapml_status view(struct gpu_queue *queue,
                         tapml_call *call,
                         const tapml_tensor *tensor,
                         struct gpu_view *out_view)
{
    int64_t length[TAPML_MAX_RANK] = {1, 1}, stride[TAPML_MAX_RANK] = {0, 0};
    uint64_t at = 0;

    if (tensor->rank == 0) {
        return gpu_plan_refuse(queue, call, "a tensor of rank 0, expected rows");
    }
    GPU_TRY(begin(queue, call, tensor, &at));
    const int64_t width = tensor->shape[tensor->rank - 1];
    const uint32_t count = merge_outer(tensor, length, stride);
    uint64_t last = at;

    if (count > 2) {
        return gpu_plan_refuse(queue, call, "%u outer strides, kernels have 2", count);
    }
    if (width > 1 && gpu_view_stride(tensor, tensor->rank - 1) != 1) {
        return gpu_plan_refuse(queue, call, "the last axis is not contiguous");
    }
    GPU_TRY(reach(queue, call, &last, width, 1));
    for (uint32_t axis = 0; axis < count; axis++) {
        GPU_TRY(reach(queue, call, &last, length[axis], stride[axis]));
    }
    *out_view = (struct gpu_view){
        .at = (uint32_t)at,
        .n = (uint32_t)length[0],
        .s0 = (uint32_t)stride[1],
        .s1 = (uint32_t)stride[0],
        .rows = (uint32_t)(length[0] * length[1]),
        .width = (uint32_t)width,
    };
    return TAPML_OK;
}

// Takes note of an activation in f16: the variant of the kernels is that of the whole call.
static tapml_status
activation(struct gpu_queue *queue, tapml_call *call, const tapml_tensor *tensor)
{
    if (tensor->dtype == TAPML_F16 && (queue->device->limits.features & GPU_FEATURE_F16) == 0) {
        return gpu_plan_refuse(
            queue, call, "activations are f32, this one is f16, which the device cannot store");
    }
    if (tensor->dtype != TAPML_F32 && tensor->dtype != TAPML_F16 && tensor->dtype != TAPML_I32) {
        return gpu_plan_refuse(queue, call, "activations are f32 or f16, this one has type 0x%x",
                               tensor->dtype);
    }
    if (tensor->dtype == TAPML_F16) {
        queue->half = K_V_HALF;
    }
    return TAPML_OK;
}

tapml_status gpu_view_rows(struct gpu_queue *queue,
                           tapml_call *call,
                           const tapml_tensor *tensor,
                           struct gpu_view *out_view)
{
    GPU_TRY(activation(queue, call, tensor));
    return view(queue, call, tensor, out_view);
}

tapml_status gpu_view_state_rows(struct gpu_queue *queue,
                                 tapml_call *call,
                                 const tapml_tensor *state,
                                 struct gpu_view *out_view)
{
    tapml_tensor values = *state;

    if (state->encoding == NULL) {
        return gpu_view_rows(queue, call, state, out_view);
    }
    if (strcmp(state->encoding->id, TAPML_ENCODING_Q8_ROWS) != 0) {
        return gpu_plan_refuse(queue, call, "a state in encoding '%s', known is '%s'",
                               state->encoding->id, TAPML_ENCODING_Q8_ROWS);
    }
    values.encoding = NULL;
    values.dtype = TAPML_F32;
    values.offset = 0;
    if (state->offset / sizeof(uint32_t) >
        UINT32_MAX / 2) { // As many words as values, and an eighth.
        return gpu_plan_refuse(queue, call, "an index of 33 bits or more, kernels have 32");
    }
    return view(queue, call, &values, out_view);
}

uint32_t gpu_view_state_word(const tapml_tensor *state)
{
    return (uint32_t)(state->offset / sizeof(uint32_t));
}

tapml_status gpu_view_state(struct gpu_queue *queue,
                            tapml_call *call,
                            uint32_t dtype,
                            const tapml_tensor *state,
                            uint32_t *out_variant)
{
    if (state->encoding == NULL && state->dtype != dtype && dtype == TAPML_F16) {
        return gpu_plan_refuse(queue, call, "activations are f16 and the state is f32");
    }
    queue->half = dtype == TAPML_F16 ? K_V_HALF : K_V_BASE; // The state has been viewed, too.
    *out_variant = state->encoding != NULL ? K_V_STATE_Q8
                   : state->dtype == dtype ? K_V_BASE
                                           : K_V_STATE_F16;
    return TAPML_OK;
}

tapml_status gpu_view_weight(struct gpu_queue *queue,
                             tapml_call *call,
                             const tapml_tensor *tensor,
                             struct gpu_view *out_view)
{
    const tapml_encoding *encoding = tensor->encoding;

    if (gpu_view_weight_kind(tensor) == GPU_WEIGHT_NONE) {
        return encoding != NULL
                   ? gpu_plan_refuse(queue, call, "encoding '%s', which no kernel has",
                                     encoding->id)
                   : gpu_plan_refuse(queue, call,
                                     "weights are f32, bf16 or f16, this one has type 0x%x",
                                     tensor->dtype);
    }
    if (encoding == NULL) {
        return view(queue, call, tensor, out_view);
    }
    tapml_tensor values = *tensor; // From its start on.
    int64_t stride[] = {0, 1};

    if (gpu_tiles_are_in(encoding)) {
        GPU_TRY(gpu_tiles_check(queue, call, tensor));
        stride[0] = gpu_tiles_stride(tensor);
        values.stride = stride;
    }
    values.encoding = NULL;
    values.offset = 0;
    return view(queue, call, &values, out_view);
}

static uint64_t count_blocks(const tapml_tensor *tensor)
{
    uint64_t count = 1;

    for (uint32_t axis = 0; axis < tensor->rank; axis++) {
        count *= (uint64_t)tensor->shape[axis];
    }
    return count / tensor->encoding->block_values;
}

// The word in which span `index` begins.
static uint32_t span_word(const tapml_tensor *weight, uint32_t index)
{
    const uint64_t blocks = count_blocks(weight);
    uint64_t begin = 0;

    for (uint32_t i = 0; i < index; i++) {
        const uint64_t align = weight->encoding->spans[i + 1]->align;

        begin =
            (begin + blocks * weight->encoding->spans[i]->block_bytes + align - 1) / align * align;
    }
    return (uint32_t)((weight->offset + begin) / sizeof(uint32_t));
}

struct gpu_blocks gpu_view_blocks(const tapml_tensor *weight)
{
    if (weight->encoding == NULL) {
        return (struct gpu_blocks){0};
    }
    if (gpu_tiles_are_in(weight->encoding)) {
        return gpu_tiles_blocks(weight);
    }
    // What has no high bits gives its quants, and what has no mins its scales: words that can be
    // read.
    const uint32_t count = weight->encoding->n_spans, has_highs = count == 4;

    return (struct gpu_blocks){
        .quants = span_word(weight, 0),
        .highs = span_word(weight, has_highs),
        .scales = span_word(weight, 1 + has_highs),
        .mins = span_word(weight, count - 1),
    };
}

int gpu_view_is_x4(const struct gpu_view *view)
{
    return ((view->at | view->s0 | view->s1 | view->width) & 3u) == 0;
}

static const struct {
    const char *encoding;
    uint32_t variant, group_values;
} kinds[GPU_WEIGHT_COUNT] = {
    [GPU_WEIGHT_NONE] = {NULL, K_V_BASE, 1},
    [GPU_WEIGHT_F32] = {NULL, K_V_BASE, 1},
    [GPU_WEIGHT_BF16] = {NULL, K_V_BF16, 1},
    [GPU_WEIGHT_F16] = {NULL, K_V_F16, 1},
    [GPU_WEIGHT_Q8] = {TAPML_ENCODING_Q8, K_V_Q8, 32},
    [GPU_WEIGHT_Q4] = {TAPML_ENCODING_Q4, K_V_Q4, 32},
    [GPU_WEIGHT_Q5] = {TAPML_ENCODING_Q5, K_V_Q5, 32},
    [GPU_WEIGHT_Q4_K] = {TAPML_ENCODING_Q4_K, K_V_Q4_K, 32},
    [GPU_WEIGHT_Q5_K] = {TAPML_ENCODING_Q5_K, K_V_Q5_K, 32},
    [GPU_WEIGHT_Q6_K] = {TAPML_ENCODING_Q6_K, K_V_Q6_K, 16},
    [GPU_WEIGHT_TILES] = {NULL, K_V_TILES, 1},
};

static uint32_t encoded_kind(const tapml_encoding *encoding)
{
    if (gpu_tiles_are_in(encoding)) {
        return GPU_WEIGHT_TILES;
    }
    for (uint32_t kind = GPU_WEIGHT_Q8; kind < GPU_WEIGHT_TILES; kind++) {
        if (strcmp(encoding->id, kinds[kind].encoding) == 0) {
            return kind;
        }
    }
    return GPU_WEIGHT_NONE;
}

uint32_t gpu_view_weight_kind(const tapml_tensor *weight)
{
    if (weight != NULL && weight->encoding != NULL) {
        return encoded_kind(weight->encoding);
    }
    return weight == NULL                ? GPU_WEIGHT_NONE
           : weight->dtype == TAPML_F32  ? GPU_WEIGHT_F32
           : weight->dtype == TAPML_BF16 ? GPU_WEIGHT_BF16
           : weight->dtype == TAPML_F16  ? GPU_WEIGHT_F16
                                         : GPU_WEIGHT_NONE;
}

uint32_t gpu_view_weight_variant(const tapml_tensor *weight)
{
    return kinds[gpu_view_weight_kind(weight)].variant;
}

uint32_t gpu_view_group_values(uint32_t weight_kind)
{
    return kinds[weight_kind].group_values;
}

// -- Elements ----------------------------------------------------------------------------------

// Whether, in all tensors, an axis continues the last one of `e`.
static int continues(const struct gpu_elements *e,
                     const tapml_tensor *const *tensors,
                     uint32_t count,
                     uint32_t axis)
{
    for (uint32_t t = 0; t < count; t++) {
        const uint64_t inner = e->tensor[t].stride[e->axes - 1];

        if ((uint64_t)gpu_view_stride(tensors[t], axis) != inner * e->n[e->axes - 1]) {
            return 0;
        }
    }
    return 1;
}

static void merge_axes(struct gpu_elements *e, const tapml_tensor *const *tensors, uint32_t count)
{
    e->axes = 1; // Of length 1, until one is found that is longer.
    e->n[0] = 1;
    for (uint32_t axis = tensors[0]->rank; axis-- > 0;) {
        const uint32_t n = (uint32_t)tensors[0]->shape[axis];

        if (n == 1) {
            continue;
        }
        if (e->n[e->axes - 1] == 1 || !continues(e, tensors, count, axis)) {
            e->axes += e->n[e->axes - 1] != 1;
            e->n[e->axes - 1] = n;
            for (uint32_t t = 0; t < count; t++) {
                e->tensor[t].stride[e->axes - 1] = (uint32_t)gpu_view_stride(tensors[t], axis);
            }
        } else {
            e->n[e->axes - 1] *= n;
        }
    }
}

static int can_be_x4(const struct gpu_elements *e, uint32_t count)
{
    uint32_t bits = e->n[0];

    for (uint32_t t = 0; t < count; t++) {
        if (e->tensor[t].stride[0] != 1) {
            return 0;
        }
        bits |= e->tensor[t].at;
        for (uint32_t axis = 1; axis < e->axes; axis++) {
            bits |= e->tensor[t].stride[axis];
        }
    }
    return (bits & 3u) == 0;
}

static void count_by_four(struct gpu_elements *e, uint32_t count)
{
    e->lanes = 4;
    e->n[0] /= 4;
    for (uint32_t t = 0; t < count; t++) {
        e->tensor[t].at /= 4;
        for (uint32_t axis = 1; axis < e->axes; axis++) {
            e->tensor[t].stride[axis] /= 4;
        }
    }
}

// Where a tensor of `gpu_view_elements` begins, if its elements can be reached.
static tapml_status begin_elements(struct gpu_queue *queue,
                                   tapml_call *call,
                                   const tapml_tensor *tensor,
                                   uint32_t *out_at)
{
    uint64_t at = 0, last = 0;

    GPU_TRY(activation(queue, call, tensor));
    GPU_TRY(begin(queue, call, tensor, &at));
    last = at;
    for (uint32_t axis = 0; axis < tensor->rank; axis++) {
        GPU_TRY(reach(queue, call, &last, tensor->shape[axis], gpu_view_stride(tensor, axis)));
    }
    *out_at = (uint32_t)at;
    return TAPML_OK;
}

tapml_status gpu_view_elements(struct gpu_queue *queue,
                               tapml_call *call,
                               const tapml_tensor *const *tensors,
                               uint32_t count,
                               struct gpu_elements *out_elements)
{
    struct gpu_elements e = {.lanes = 1, .count = 1};

    for (uint32_t t = 0; t < count; t++) {
        GPU_TRY(begin_elements(queue, call, tensors[t], &e.tensor[t].at));
    }
    merge_axes(&e, tensors, count);
    if (can_be_x4(&e, count)) {
        count_by_four(&e, count);
    }
    for (uint32_t axis = 0; axis < e.axes; axis++) {
        e.count *= e.n[axis];
    }
    *out_elements = e;
    return TAPML_OK;
}
