// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/forecast_limits.h"

#include "base/alloc.h"
#include "exec/memory.h"
#include "exec/residency.h"
#include "run/forecast_device.h"
#include "tensor/dtype.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *meaning;
} kinds[FORECAST_LIMITS] = {
    [FORECAST_REFUSED] = {"refused", "would run on the source"},
    [FORECAST_PANELS] = {"panels", "weights in panels of rows, each a launch"},
    [FORECAST_FOLDED] = {"folded", "more workgroups than one axis of a grid has"},
    [FORECAST_SHARED] = {"shared", "rows that do not fit into the memory of a workgroup"},
    [FORECAST_OFFSET] = {"offset", "tensors that begin where no binding can"},
    [FORECAST_WIDENED] = {"widened", "weights of a type in which the device does not compute"},
};

const char *forecast_limits_name(enum forecast_limit_kind kind)
{
    return kinds[kind].name;
}

const char *forecast_limits_meaning(enum forecast_limit_kind kind)
{
    return kinds[kind].meaning;
}

uint64_t forecast_limits_bytes(const struct forecast_memory *memory)
{
    return memory->weights + memory->states + memory->activations;
}

void forecast_limits_release(struct forecast_limits *limits)
{
    alloc_free(limits->items);
    *limits = (struct forecast_limits){.items = NULL};
}

// Adds a finding, or replaces one of the same op and kind that exceeds its limit less.
static tapml_status add(struct forecast_limits *limits, const struct forecast_limit *found)
{
    for (size_t i = 0; i < limits->count; i++) {
        struct forecast_limit *known = &limits->items[i];

        if (known->kind == found->kind && known->op == found->op) {
            *known = found->needed > known->needed ? *found : *known;
            return TAPML_OK;
        }
    }
    if (!alloc_grow((void **)&limits->items, &limits->capacity, limits->count,
                    sizeof(*limits->items))) {
        return status_no_memory();
    }
    limits->items[limits->count++] = *found;
    return TAPML_OK;
}

static int in_order(const void *a, const void *b)
{
    const struct forecast_limit *one = a, *other = b;

    return one->kind != other->kind ? (one->kind < other->kind ? -1 : 1)
           : one->op != other->op   ? (one->op < other->op ? -1 : 1)
                                    : 0;
}

// -- What is refused ---------------------------------------------------------------------------

// The panels of a weight or constant; 0 if not even a row fits.
static uint64_t count_panels(const struct forecast_frame *frame, uint32_t base)
{
    int64_t shape[TAPML_MAX_RANK];
    const tapml_tensor form = forecast_frame_form(frame, base, shape);

    return residency_panels(frame->weights, &form);
}

// The largest base value of an op that is above the limit of a buffer and cannot be cut.
static void
find_largest(const struct forecast_frame *frame, uint32_t op, struct forecast_limit *limit)
{
    const struct binding *binding = &frame->bindings[op];
    const uint64_t most = backend_info(frame->device)->buffer_bytes_max;

    for (uint32_t i = 0; i < binding->tensor_count; i++) {
        const uint32_t base = frame->graph->values[binding->tensors[i].value].base;
        const uint64_t bytes = forecast_frame_bytes(frame, base);
        const int is_cut = binding_is_weight(binding, i) && count_panels(frame, base) > 0;

        if (bytes > most && bytes > limit->needed && !is_cut) {
            limit->needed = bytes;
            limit->limit = most;
        }
    }
}

static tapml_status take_refusals(struct forecast_frame *frame, struct forecast_limits *limits)
{
    for (uint32_t i = 0; i < schedule_refusal_count(frame->schedule); i++) {
        const struct schedule_refusal *refusal = schedule_refusal_at(frame->schedule, i);
        struct forecast_limit found = {.kind = FORECAST_REFUSED, .op = refusal->op};

        if (backend_info(frame->device)->buffer_bytes_max > 0) {
            find_largest(frame, refusal->op, &found);
        }
        (void)snprintf(found.sentence, sizeof(found.sentence), "%.128s", refusal->reason);
        if (found.needed > 0) { // Asked for first, so it is what the reason speaks of.
            const size_t length = strlen(found.sentence);

            (void)snprintf(found.sentence + length, sizeof(found.sentence) - length,
                           ": %" PRIu64 " of %" PRIu64 " bytes", found.needed, found.limit);
        }
        TAPML_TRY(add(limits, &found));
    }
    return TAPML_OK;
}

// Where the ops of a call would run.
static tapml_status ask(struct forecast_frame *frame, int64_t tokens)
{
    const struct affine_point point = forecast_frame_point(frame, tokens, 0);
    struct schedule_answer answer;

    return schedule_ask(frame->schedule, &point, &answer);
}

// -- What kernels have to provide for ----------------------------------------------------------

// A call that is looked at.
struct limit_look {
    struct forecast_frame *frame;
    struct forecast_limits *limits;
    uint32_t op;
    const struct binding *binding;
};

static tapml_status look_at_panels(const struct limit_look *looking, uint32_t base)
{
    const uint64_t panels = count_panels(looking->frame, base);
    struct forecast_limit found = {.kind = FORECAST_PANELS,
                                   .op = looking->op,
                                   .needed = forecast_frame_bytes(looking->frame, base),
                                   .limit = backend_info(looking->frame->device)->buffer_bytes_max};

    if (panels < 2) {
        return TAPML_OK;
    }
    (void)snprintf(found.sentence, sizeof(found.sentence),
                   "'%.60s' in %" PRIu64 " panels: %" PRIu64 " of %" PRIu64 " bytes",
                   looking->frame->graph->values[base].name, panels, found.needed, found.limit);
    return add(looking->limits, &found);
}

static tapml_status look_at_offset(const struct limit_look *looking, uint32_t index)
{
    const struct binding_tensor *tensor = &looking->binding->tensors[index];
    const uint64_t alignment = (uint64_t)looking->frame->given.file->alignment;
    struct forecast_limit found = {.kind = FORECAST_OFFSET, .op = looking->op, .limit = alignment};

    if (alignment == 0 || tensor->view_offset % alignment == 0) {
        return TAPML_OK;
    }
    found.needed = tensor->view_offset;
    (void)snprintf(found.sentence, sizeof(found.sentence),
                   "'%.60s' at byte %" PRIu64 ", a binding at multiples of %" PRIu64,
                   looking->binding->op->op->params[tensor->param]->name, found.needed, alignment);
    return add(looking->limits, &found);
}

static tapml_status look_at_type(const struct limit_look *looking, uint32_t base)
{
    const struct graph_value *weight = &looking->frame->graph->values[base];
    const struct device_file *file = looking->frame->given.file;
    const int half = weight->dtype == TAPML_F16    ? file->f16
                     : weight->dtype == TAPML_BF16 ? file->bf16
                                                   : DEVICE_FILE_UNKNOWN;
    struct forecast_limit found = {.kind = FORECAST_WIDENED, .op = looking->op};

    if (half != DEVICE_FILE_NONE && half != DEVICE_FILE_STORAGE) {
        return TAPML_OK;
    }
    (void)snprintf(found.sentence, sizeof(found.sentence), "'%.60s' is %s", weight->name,
                   dtype_name(weight->dtype));
    return add(looking->limits, &found);
}

static tapml_status look_at_tensors(const struct limit_look *looking)
{
    for (uint32_t i = 0; i < looking->binding->tensor_count; i++) {
        const struct binding_tensor *tensor = &looking->binding->tensors[i];

        const uint32_t base = looking->frame->graph->values[tensor->value].base;

        if (binding_is_weight(looking->binding, i)) {
            TAPML_TRY(look_at_panels(looking, base));
            TAPML_TRY(look_at_type(looking, base));
        }
        TAPML_TRY(look_at_offset(looking, i));
    }
    return TAPML_OK;
}

// A work item for each value of the output.
static tapml_status look_at_grid(const struct limit_look *looking)
{
    const struct device_file *file = looking->frame->given.file;
    const uint64_t items = (uint64_t)file->group_items, grid = (uint64_t)file->grid;
    const uint64_t outputs =
        forecast_device_outputs(looking->binding->op->op, looking->binding->args);
    struct forecast_limit found = {.kind = FORECAST_FOLDED, .op = looking->op, .limit = grid};

    if (items == 0 || grid == 0) {
        return TAPML_OK;
    }
    found.needed = outputs / items + (outputs % items != 0);
    if (found.needed <= grid) {
        return TAPML_OK;
    }
    (void)snprintf(found.sentence, sizeof(found.sentence),
                   "%" PRIu64 " values are %" PRIu64 " groups, an axis has %" PRIu64, outputs,
                   found.needed, grid);
    return add(looking->limits, &found);
}

// The longest row among the inputs of an op that adds up rows, as f32.
static tapml_status look_at_rows(const struct limit_look *looking)
{
    const tapml_op *op = looking->binding->op->op;
    const uint64_t shared = (uint64_t)looking->frame->given.file->shared_bytes;
    struct forecast_limit found = {.kind = FORECAST_SHARED, .op = looking->op, .limit = shared};
    uint64_t longest = 0;

    if (shared == 0 || op->tolerance == NULL || strcmp(op->tolerance, "reduction") != 0) {
        return TAPML_OK;
    }
    for (uint32_t i = 0; i < looking->binding->tensor_count; i++) {
        const struct binding_tensor *own = &looking->binding->tensors[i];
        const int is_input = binding_access(looking->binding, i) == BINDING_READS &&
                             !binding_is_weight(looking->binding, i) && own->tensor.rank > 0;
        const int64_t width = is_input ? own->shape[own->tensor.rank - 1] : 0;

        longest = width > 0 && (uint64_t)width > longest ? (uint64_t)width : longest;
    }
    found.needed = longest * sizeof(float);
    if (found.needed <= shared) {
        return TAPML_OK;
    }
    (void)snprintf(found.sentence, sizeof(found.sentence),
                   "a row of %" PRIu64 " values takes %" PRIu64 " bytes, a workgroup has %" PRIu64,
                   longest, found.needed, shared);
    return add(looking->limits, &found);
}

static tapml_status look(struct forecast_frame *frame, struct forecast_limits *limits)
{
    const struct affine_point point = forecast_frame_point(frame, frame->given.chunk, 0);

    for (uint32_t op = 0; op < frame->graph->op_count; op++) {
        const struct limit_look looking = {
            .frame = frame,
            .limits = limits,
            .op = op,
            .binding = forecast_frame_bind(frame, op, &point),
        };

        TAPML_TRY(look_at_tensors(&looking));
        TAPML_TRY(look_at_grid(&looking));
        TAPML_TRY(look_at_rows(&looking));
    }
    return TAPML_OK;
}

// -- Memory ------------------------------------------------------------------------------------

static tapml_status count_slots(const struct forecast_frame *frame, struct forecast_memory *memory)
{
    struct memory_plan plan;

    TAPML_TRY(
        memory_plan_create(frame->graph, &frame->largest, value_marks(frame->values), 0, &plan));
    for (uint32_t i = 0; i < plan.slot_count; i++) {
        memory->activations += plan.slot_bytes[i].at[frame->given.activation];
    }
    memory_plan_release(&plan);
    return TAPML_OK;
}

static tapml_status count_memory(const struct forecast_frame *frame, struct forecast_memory *memory)
{
    for (uint32_t v = 0; v < frame->graph->value_count; v++) {
        const enum graph_kind kind = frame->graph->values[v].kind;

        if (kind == GRAPH_WEIGHT || kind == GRAPH_CONSTANT) {
            memory->weights += forecast_frame_bytes(frame, v);
        } else if (kind == GRAPH_STATE) {
            memory->states += forecast_frame_bytes(frame, v);
        }
    }
    return count_slots(frame, memory);
}

static tapml_status find_all(struct forecast_frame *frame, struct forecast_limits *limits)
{
    TAPML_TRY(ask(frame, frame->given.chunk));
    if (graph_find_output(frame->graph, "logits") != GRAPH_NONE) {
        TAPML_TRY(ask(frame, 1)); // An encoder decodes nothing.
    }
    TAPML_TRY(take_refusals(frame, limits));
    TAPML_TRY(look(frame, limits));
    return count_memory(frame, &limits->memory);
}

tapml_status forecast_limits_find(struct forecast_frame *frame, struct forecast_limits *out_limits)
{
    struct forecast_limits limits = {.items = NULL};
    const tapml_status status = find_all(frame, &limits);

    if (status != TAPML_OK) {
        forecast_limits_release(&limits);
        return status;
    }
    if (limits.count > 0) {
        qsort(limits.items, limits.count, sizeof(*limits.items), in_order);
    }
    *out_limits = limits;
    return TAPML_OK;
}
