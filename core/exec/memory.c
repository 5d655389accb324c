// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "exec/memory.h"

#include "base/alloc.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

#include <string.h>

enum { SLOT_GRAIN = 64 };

// What is known of the slots while they are given out, in the order of the ops: op i runs at the
// time i + 1, inputs are there at 0, and at the end, op_count + 1, outputs are asked for.
struct slot_maker {
    const struct graph *graph;
    const activation_set *marks;
    struct memory_plan *plan;
    uint64_t spare_bytes; // In which slots are not shared.
    uint32_t *last_use;   // Of each base value.
    uint32_t *busy_until; // Of each slot: the last use of what is in it now.
};

// The largest that `a` gets where no symbol exceeds `largest`: a negative factor helps nothing, but
// for the capacity, which is the same in all calls.
static int64_t affine_most(const struct affine *a, const struct affine_point *largest)
{
    struct affine most = *a;
    for (uint32_t i = 0; i < AFFINE_SYMBOLS; i++) {
        if (i != AFFINE_CAPACITY && most.factor[i] < 0) {
            most.factor[i] = 0;
        }
    }
    return affine_at(&most, largest);
}

static tapml_status
value_bytes_most(const struct graph_value *value, const struct affine_point *largest, uint64_t *out)
{
    int64_t shape[TAPML_MAX_RANK], count = 0;
    for (uint32_t i = 0; i < value->rank; i++) {
        shape[i] = affine_most(&value->shape[i], largest);
    }
    const tapml_status status = shape_count(shape, value->rank, &count);
    if (status != TAPML_OK) {
        return status_explain(status, "while sizing '%s'", value->name);
    }
    uint64_t bytes = 0;
    if (__builtin_mul_overflow((uint64_t)count, dtype_bytes(value->dtype), &bytes) ||
        bytes > UINT64_MAX / 2) {
        return status_fail(TAPML_INVALID, "'%s' is too large: %lld elements", value->name,
                           (long long)count);
    }
    *out = (bytes > 0 ? bytes + SLOT_GRAIN - 1 : SLOT_GRAIN) / SLOT_GRAIN * SLOT_GRAIN;
    return TAPML_OK;
}

static void note_use(struct slot_maker *maker, uint32_t value, uint32_t time)
{
    uint32_t *last = &maker->last_use[maker->graph->values[value].base];
    *last = time > *last ? time : *last;
}

static void note_uses(struct slot_maker *maker)
{
    const struct graph *graph = maker->graph;
    for (uint32_t i = 0; i < graph->op_count; i++) {
        const struct graph_op *op = &graph->ops[i];
        for (uint32_t p = 0; p < op->op->n_params; p++) {
            const struct graph_argument *argument = &op->arguments[p];
            if (argument->kind == TAPML_P_TENSORS_IN) {
                for (uint32_t k = 0; k < argument->count; k++) {
                    note_use(maker, argument->values[k], i + 1);
                }
            } else if (argument->kind >= TAPML_P_TENSOR_IN &&
                       argument->kind <= TAPML_P_TENSOR_INOUT) {
                note_use(maker, argument->value, i + 1);
            }
        }
    }
    for (uint32_t i = 0; i < graph->output_count; i++) {
        note_use(maker, graph->outputs[i].value, graph->op_count + 1);
    }
}

// The free slot that fits with the least waste; else the largest free one, to be enlarged; else a
// new one.
static uint32_t choose_slot(const struct slot_maker *maker, uint64_t bytes, uint32_t time)
{
    const struct memory_plan *plan = maker->plan;
    uint32_t best = GRAPH_NONE;
    for (uint32_t slot = 0; slot < plan->slot_count; slot++) {
        if (maker->busy_until[slot] >= time) {
            continue;
        }
        const uint64_t size = plan->slot_bytes[slot].at[ACTIVATION_F32];
        const uint64_t best_size =
            best == GRAPH_NONE ? 0 : plan->slot_bytes[best].at[ACTIVATION_F32];
        const int is_better =
            best_size < bytes ? size > best_size : size >= bytes && size < best_size;
        best = best == GRAPH_NONE || is_better ? slot : best;
    }
    return best == GRAPH_NONE ? plan->slot_count : best;
}

static void grow(struct activation_bytes *bytes, struct activation_bytes wanted)
{
    for (unsigned i = 0; i < ACTIVATION_COUNT; i++) {
        bytes->at[i] = wanted.at[i] > bytes->at[i] ? wanted.at[i] : bytes->at[i];
    }
}

static tapml_status place_value(struct slot_maker *maker,
                                uint32_t value,
                                const struct affine_point *largest,
                                uint32_t time)
{
    struct memory_plan *plan = maker->plan;
    uint64_t bytes = 0;
    TAPML_TRY(value_bytes_most(&maker->graph->values[value], largest, &bytes));
    const int is_own = bytes <= maker->spare_bytes;
    const uint32_t slot = is_own ? plan->slot_count : choose_slot(maker, bytes, time);
    maker->spare_bytes -= is_own ? bytes : 0;
    if (slot == plan->slot_count) {
        plan->slot_count++;
    }
    grow(&plan->slot_bytes[slot], activation_bytes(bytes, maker->marks ? maker->marks[value] : 0));
    plan->slot_of[value] = slot;
    maker->busy_until[slot] = maker->last_use[value] > time ? maker->last_use[value] : time;
    return TAPML_OK;
}

static tapml_status place_values(struct slot_maker *maker, const struct affine_point *largest)
{
    const struct graph *graph = maker->graph;
    for (uint32_t v = 0; v < graph->value_count; v++) {
        if (graph->values[v].kind == GRAPH_INPUT) {
            TAPML_TRY(place_value(maker, v, largest, 0));
        }
    }
    for (uint32_t i = 0; i < graph->op_count; i++) {
        const struct graph_op *op = &graph->ops[i];
        for (uint32_t p = 0; p < op->op->n_params; p++) {
            const struct graph_argument *argument = &op->arguments[p];
            if (argument->kind == TAPML_P_TENSOR_OUT) {
                TAPML_TRY(place_value(maker, argument->value, largest, i + 1));
            }
        }
    }
    return TAPML_OK;
}

tapml_status memory_plan_create(const struct graph *graph,
                                const struct affine_point *largest,
                                const activation_set *marks,
                                uint64_t spare_bytes,
                                struct memory_plan *out_plan)
{
    const size_t count = graph->value_count;
    struct memory_plan plan = {
        .slot_of = alloc_array(count, sizeof(*plan.slot_of)),
        .slot_bytes = alloc_array(count, sizeof(*plan.slot_bytes)),
    };
    struct slot_maker maker = {
        .graph = graph,
        .marks = marks,
        .plan = &plan,
        .spare_bytes = spare_bytes,
        .last_use = alloc_array(count, sizeof(*maker.last_use)),
        .busy_until = alloc_array(count, sizeof(*maker.busy_until)),
    };
    tapml_status status = TAPML_OK;
    if (!plan.slot_of || !plan.slot_bytes || !maker.last_use || !maker.busy_until) {
        status = status_no_memory();
    } else {
        memset(plan.slot_of, 0xff, count * sizeof(*plan.slot_of)); // GRAPH_NONE
        note_uses(&maker);
        status = place_values(&maker, largest);
    }
    alloc_free(maker.last_use);
    alloc_free(maker.busy_until);
    if (status != TAPML_OK) {
        memory_plan_release(&plan);
        return status;
    }
    *out_plan = plan;
    return TAPML_OK;
}

void memory_plan_release(struct memory_plan *plan)
{
    if (plan) {
        alloc_free(plan->slot_of);
        alloc_free(plan->slot_bytes);
        *plan = (struct memory_plan){0};
    }
}
