// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "exec/ring_experts.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "exec/residency_slots.h"

#include <string.h>

#define NONE UINT32_MAX

struct unit_slot {
    tapml_object *buffer; // NULL: of a place on host memory.
    uint32_t unit;        // Or NONE.
    uint64_t used;        // When it was chosen last; 0: never.
};

struct ring_experts {
    struct backend *backend;
    struct residency *weights;
    int is_host;
    const struct ring_experts_plan *plan; // Or NULL.
    struct unit_slot *slots;
    uint32_t slot_count;
    uint64_t slot_bytes;
    uint32_t *slot_of; // For each unit, or NONE.
    uint64_t clock;
    uint32_t entered; // The op whose units are bound; NONE: none.
    struct ring_experts_figures figures;
};

void ring_experts_plan_release(struct ring_experts_plan *plan)
{
    alloc_free(plan->ops);
    alloc_free(plan->residents);
    alloc_free(plan->first);
    *plan = (struct ring_experts_plan){0};
}

tapml_status ring_experts_create(struct backend *backend,
                                 struct residency *weights,
                                 struct ring_experts **out_experts)
{
    struct ring_experts *experts = alloc_new(sizeof(*experts));
    if (!experts) {
        return status_no_memory();
    }
    experts->backend = backend;
    experts->weights = weights;
    experts->is_host = backend_info(backend)->is_host_memory;
    experts->entered = NONE;
    *out_experts = experts;
    return TAPML_OK;
}

static void free_slots(struct ring_experts *experts)
{
    for (uint32_t i = 0; i < experts->slot_count; i++) {
        residency_slots_free(experts->weights, experts->slots[i].buffer, experts->slot_bytes);
    }
    alloc_free(experts->slots);
    alloc_free(experts->slot_of);
    experts->slots = NULL;
    experts->slot_of = NULL;
    experts->slot_count = 0;
}

void ring_experts_destroy(struct ring_experts *experts)
{
    if (experts) {
        ring_experts_leave(experts);
        free_slots(experts);
        alloc_free(experts);
    }
}

// -- Units -------------------------------------------------------------------------------------

static void enter_unit(struct ring_experts *experts, uint32_t unit, uint32_t slot)
{
    const struct ring_experts_plan *plan = experts->plan;
    uint64_t offset = 0;
    for (uint32_t i = plan->first[unit]; i < plan->first[unit + 1]; i++) {
        residency_slots_enter(plan->residents[i], experts->slots[slot].buffer, offset);
        offset += residency_slots_bytes(experts->weights, plan->residents[i]);
    }
}

static tapml_status load_unit(struct ring_experts *experts, uint32_t unit, uint32_t slot)
{
    const struct ring_experts_plan *plan = experts->plan;
    uint64_t offset = 0;
    for (uint32_t i = plan->first[unit]; i < plan->first[unit + 1]; i++) {
        struct resident *resident = plan->residents[i];
        if (!experts->is_host) {
            TAPML_TRY(residency_slots_fill(experts->weights, resident, experts->slots[slot].buffer,
                                           offset, 0));
        }
        offset += residency_slots_bytes(experts->weights, resident);
    }
    experts->figures.loaded_bytes += offset;
    return TAPML_OK;
}

// Pages of host memory leave it.
static void leave_pages(const struct ring_experts *experts, uint32_t unit)
{
    const struct ring_experts_plan *plan = experts->plan;
    for (uint32_t i = plan->first[unit]; i < plan->first[unit + 1]; i++) {
        struct residency_source source;
        for (uint64_t at = 0;
             residency_slots_source(experts->weights, plan->residents[i], at, &source); at++) {
            file_map_leave(source.map, source.data, source.bytes);
        }
    }
}

// The slot that was not used for the longest time, and not now.
static uint32_t oldest(const struct ring_experts *experts)
{
    uint32_t found = 0;
    for (uint32_t i = 1; i < experts->slot_count; i++) {
        found = experts->slots[i].used < experts->slots[found].used ? i : found;
    }
    ASSERT(experts->slots[found].used <
           experts->clock); // There are more slots than units of an op.
    return found;
}

static tapml_status choose_unit(struct ring_experts *experts, uint32_t unit)
{
    uint32_t slot = experts->slot_of[unit];
    if (slot != NONE && experts->slots[slot].used == experts->clock) {
        return TAPML_OK; // Another row has chosen it.
    }
    experts->figures.chosen++;
    if (slot != NONE) {
        experts->figures.hits++;
        experts->slots[slot].used = experts->clock;
        return TAPML_OK;
    }
    slot = oldest(experts);
    struct unit_slot *own = &experts->slots[slot];
    if (own->unit != NONE) {
        experts->slot_of[own->unit] = NONE;
        leave_pages(experts, own->unit);
    }
    *own = (struct unit_slot){.buffer = own->buffer, .unit = NONE, .used = experts->clock};
    TAPML_TRY(load_unit(experts, unit, slot));
    own->unit = unit;
    experts->slot_of[unit] = slot;
    return TAPML_OK;
}

// -- Programs ----------------------------------------------------------------------------------

void ring_experts_empty(struct ring_experts *experts)
{
    for (uint32_t i = 0; i < experts->slot_count; i++) {
        experts->slots[i].unit = NONE;
        experts->slots[i].used = 0;
    }
    for (uint32_t i = 0; experts->plan && i < experts->plan->unit_count; i++) {
        experts->slot_of[i] = NONE;
    }
}

static tapml_status make_slots(struct ring_experts *experts)
{
    const struct ring_experts_plan *plan = experts->plan;
    experts->slots = alloc_array((size_t)plan->slots + 1, sizeof(*experts->slots));
    experts->slot_of = alloc_array((size_t)plan->unit_count + 1, sizeof(*experts->slot_of));
    if (!experts->slots || !experts->slot_of) {
        return status_no_memory();
    }
    experts->slot_bytes = plan->unit_bytes;
    for (; experts->slot_count < plan->slots; experts->slot_count++) {
        struct unit_slot *slot = &experts->slots[experts->slot_count];
        if (!experts->is_host) {
            TAPML_TRY(residency_slots_new(experts->weights, plan->unit_bytes, &slot->buffer));
        }
    }
    ring_experts_empty(experts);
    return TAPML_OK;
}

void ring_experts_forget(struct ring_experts *experts)
{
    ring_experts_leave(experts);
    experts->plan = NULL;
}

tapml_status ring_experts_begin(struct ring_experts *experts, const struct ring_experts_plan *plan)
{
    ring_experts_leave(experts);
    free_slots(experts);
    experts->plan = plan && plan->op_count > 0 ? plan : NULL;
    return experts->plan ? make_slots(experts) : TAPML_OK;
}

tapml_status ring_experts_route(struct ring_experts *experts,
                                uint32_t index,
                                const int32_t *indices,
                                uint64_t count)
{
    const struct ring_experts_op *op = &experts->plan->ops[index];
    ring_experts_leave(experts);
    experts->clock++;
    experts->figures.all_bytes += op->count * experts->plan->unit_bytes;
    uint32_t any = NONE;
    for (uint64_t i = 0; i < count; i++) {
        if (indices[i] < 0 || (uint32_t)indices[i] >= op->count) {
            return status_fail(TAPML_INVALID, "expected an expert of 0 .. %u, found %d",
                               op->count - 1, indices[i]);
        }
        const uint32_t unit = op->first_unit + (uint32_t)indices[i];
        TAPML_TRY(choose_unit(experts, unit));
        any = experts->slot_of[unit];
    }
    ASSERT(any != NONE);
    for (uint32_t i = 0; !experts->is_host && i < op->count; i++) {
        const uint32_t slot = experts->slot_of[op->first_unit + i];
        enter_unit(experts, op->first_unit + i, slot != NONE ? slot : any);
    }
    experts->entered = index;
    return TAPML_OK;
}

void ring_experts_leave(struct ring_experts *experts)
{
    if (experts->entered == NONE) {
        return;
    }
    const struct ring_experts_op *op = &experts->plan->ops[experts->entered];
    const uint32_t end = experts->plan->first[op->first_unit + op->count];
    for (uint32_t i = experts->plan->first[op->first_unit]; !experts->is_host && i < end; i++) {
        residency_slots_leave(experts->plan->residents[i]);
    }
    experts->entered = NONE;
}

struct ring_experts_figures ring_experts_figures(const struct ring_experts *experts)
{
    return experts->figures;
}
