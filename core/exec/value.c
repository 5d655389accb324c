// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "exec/value.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "exec/cast.h"
#include "exec/state.h"

#include <string.h>

struct value_set {
    const struct graph *graph;
    struct space_set *spaces;
    struct memory_plan plan;
    struct space_block *slots; // One for each slot of the plan.
    struct state *states;
    uint32_t *state_of; // For each value: its state, or GRAPH_NONE.
    uint32_t state_count;
    activation_set *marks;     // Of exec/cast, one for each value.
    struct affine_point point; // Of this call.

    // For each value, spaces where it is valid behind the last call, a bit each, and the place from
    // which it has yet to arrive: what the host asks.
    uint16_t *valid;
    uint8_t *arrives;
};

static tapml_status make_states(struct value_set *set, const struct affine_point *largest)
{
    const struct graph *graph = set->graph;
    uint32_t count = 0;
    for (uint32_t v = 0; v < graph->value_count; v++) {
        count += graph->values[v].kind == GRAPH_STATE;
    }
    set->states = alloc_array(count, sizeof(*set->states));
    set->state_of = alloc_array(graph->value_count, sizeof(*set->state_of));
    if (!set->states || !set->state_of) {
        return status_no_memory();
    }
    for (uint32_t v = 0; v < graph->value_count; v++) {
        set->state_of[v] = GRAPH_NONE;
        if (graph->values[v].kind == GRAPH_STATE) {
            TAPML_TRY(state_init(&set->states[set->state_count], &graph->values[v], largest,
                                 set->marks[v]));
            state_begin(&set->states[set->state_count]);
            set->state_of[v] = set->state_count++;
        }
    }
    return TAPML_OK;
}

tapml_status value_plan_slots(const struct value_set *set,
                              const struct affine_point *largest,
                              struct memory_plan *out_plan)
{
    return memory_plan_create(set->graph, largest, set->marks,
                              set->spaces->place_count > 1 ? VALUE_SPARE_BYTES : 0, out_plan);
}

static tapml_status make_slots(struct value_set *set, const struct affine_point *largest)
{
    TAPML_TRY(value_plan_slots(set, largest, &set->plan));
    set->slots = alloc_array(set->plan.slot_count, sizeof(*set->slots));
    set->valid = alloc_array(set->graph->value_count, sizeof(*set->valid));
    set->arrives = alloc_array(set->graph->value_count, sizeof(*set->arrives));
    if (!set->slots || !set->valid || !set->arrives) {
        return status_no_memory();
    }
    for (uint32_t i = 0; i < set->plan.slot_count; i++) {
        void *memory = NULL;
        space_block_init(&set->slots[i], set->plan.slot_bytes[i]);
        TAPML_TRY(space_memory(set->spaces, &set->slots[i], &memory));
    }
    return TAPML_OK;
}

tapml_status value_set_create(const struct graph *graph,
                              struct space_set *spaces,
                              const struct affine_point *largest,
                              struct value_set **out_set)
{
    struct value_set *set = alloc_new(sizeof(*set));
    if (!set) {
        return status_no_memory();
    }
    set->graph = graph;
    set->spaces = spaces;
    set->marks = alloc_array(graph->value_count, sizeof(*set->marks));
    tapml_status status = set->marks ? TAPML_OK : status_no_memory();
    if (status == TAPML_OK) {
        cast_mark(graph, set->marks);
        status = make_states(set, largest);
    }
    if (status == TAPML_OK) {
        status = make_slots(set, largest);
    }
    if (status != TAPML_OK) {
        value_set_destroy(set);
        return status;
    }
    *out_set = set;
    return TAPML_OK;
}

void value_set_destroy(struct value_set *set)
{
    if (!set) {
        return;
    }
    for (uint32_t i = 0; i < set->state_count; i++) {
        state_release(&set->states[i], set->spaces);
    }
    for (uint32_t i = 0; set->slots && i < set->plan.slot_count; i++) {
        space_block_release(&set->slots[i], set->spaces);
    }
    memory_plan_release(&set->plan);
    alloc_free(set->slots);
    alloc_free(set->states);
    alloc_free(set->state_of);
    alloc_free(set->valid);
    alloc_free(set->arrives);
    alloc_free(set->marks);
    alloc_free(set);
}

void value_set_begin(struct value_set *set)
{
    for (uint32_t i = 0; i < set->state_count; i++) {
        state_begin(&set->states[i]);
    }
}

void value_set_begin_call(struct value_set *set, const struct affine_point *point)
{
    set->point = *point;
    memset(set->valid, 0, set->graph->value_count * sizeof(*set->valid));
    memset(set->arrives, SPACE_NO_PLACE, set->graph->value_count * sizeof(*set->arrives));
}

void value_set_end_call(struct value_set *set, const uint16_t *valid, const uint8_t *arrives)
{
    memcpy(set->valid, valid, set->graph->value_count * sizeof(*set->valid));
    if (arrives) {
        memcpy(set->arrives, arrives, set->graph->value_count * sizeof(*set->arrives));
    }
}

static struct space_block *slot_of(struct value_set *set, uint32_t value)
{
    ASSERT(value < set->graph->value_count && set->graph->values[value].base == value);
    ASSERT(set->plan.slot_of[value] < set->plan.slot_count); // It is computed or an input.
    return &set->slots[set->plan.slot_of[value]];
}

static int is_valid(const struct value_set *set, uint32_t value, uint32_t space)
{
    ASSERT(value < set->graph->value_count && space < SPACE_COUNT_MAX);
    return (set->valid[value] >> space & 1) != 0;
}

static struct space_block *block_of(struct value_set *set, uint32_t value)
{
    ASSERT(value < set->graph->value_count);
    return set->state_of[value] != GRAPH_NONE ? &set->states[set->state_of[value]].block
                                              : slot_of(set, value);
}

tapml_status
value_buffer(struct value_set *set, uint32_t value, uint32_t place, tapml_object **out_buffer)
{
    return space_buffer(set->spaces, block_of(set, value), place, out_buffer);
}

tapml_status value_claim(struct value_set *set, uint32_t value)
{
    return space_claim(set->spaces, block_of(set, value));
}

tapml_status value_send(struct value_set *set, uint32_t value, uint32_t place)
{
    return cast_send(set->spaces, slot_of(set, value), place, set->marks[value], 0,
                     value_bytes(set, value));
}

tapml_status value_receive(struct value_set *set, uint32_t value, uint32_t place)
{
    return cast_receive(set->spaces, slot_of(set, value), place, set->marks[value], 0,
                        value_bytes(set, value));
}

tapml_status value_cast(struct value_set *set, uint32_t value, uint32_t place)
{
    return cast_reduce(set->spaces, slot_of(set, value), place, 0, value_bytes(set, value));
}

tapml_status value_cast_back(struct value_set *set, uint32_t value, uint32_t place)
{
    return cast_widen(set->spaces, slot_of(set, value), place, 0, value_bytes(set, value));
}

tapml_status value_update_state(struct value_set *set, uint32_t value, uint32_t place)
{
    tapml_object *buffer = NULL;
    ASSERT(value < set->graph->value_count && set->state_of[value] != GRAPH_NONE);
    return state_buffer(&set->states[set->state_of[value]], set->spaces, place, &buffer);
}

void value_note_rows(
    struct value_set *set, uint32_t value, uint32_t place, uint64_t begin, uint64_t end)
{
    ASSERT(set->state_of[value] != GRAPH_NONE && begin <= end);
    state_note_write(&set->states[set->state_of[value]], set->spaces, place, begin, end);
}

// Makes a value valid in host memory, from the place that computed it.
static tapml_status fetch(struct value_set *set, uint32_t value)
{
    uint32_t place = set->arrives[value];
    if (place != SPACE_NO_PLACE) {
        TAPML_TRY(space_wait(set->spaces, place));
        set->arrives[value] = SPACE_NO_PLACE;
    }
    if (is_valid(set, value, SPACE_HOST)) {
        return TAPML_OK;
    }
    place = 0;
    while (place < set->spaces->place_count &&
           !is_valid(set, value, set->spaces->places[place].space)) {
        place++;
    }
    ASSERT(place < set->spaces->place_count); // The program says where it is.
    TAPML_TRY(cast_download(set->spaces, slot_of(set, value), place, set->marks[value], 0,
                            value_bytes(set, value)));
    set->valid[value] |= 1u << SPACE_HOST;
    return TAPML_OK;
}

tapml_status value_memory(struct value_set *set, uint32_t value, const void **out_memory)
{
    TAPML_TRY(space_enter(set->spaces, SPACE_NO_PLACE));
    if (set->state_of[value] != GRAPH_NONE) {
        return state_memory(&set->states[set->state_of[value]], set->spaces, out_memory);
    }
    TAPML_TRY(fetch(set, value));
    *out_memory = slot_of(set, value)->memory;
    return TAPML_OK;
}

tapml_status value_input_memory(struct value_set *set, uint32_t value, void **out_memory)
{
    struct space_block *slot = slot_of(set, value);
    TAPML_TRY(space_enter(set->spaces, SPACE_NO_PLACE));
    TAPML_TRY(space_claim(set->spaces, slot));
    set->valid[value] = 1u << SPACE_HOST;
    return space_memory(set->spaces, slot, out_memory);
}

const activation_set *value_marks(const struct value_set *set)
{
    return set->marks;
}

uint32_t value_slot(const struct value_set *set, uint32_t value)
{
    ASSERT(value < set->graph->value_count && set->plan.slot_of[value] < set->plan.slot_count);
    return set->plan.slot_of[value];
}

uint32_t value_slot_count(const struct value_set *set)
{
    return set->plan.slot_count;
}

int value_has_buffer(const struct value_set *set, uint32_t value, uint32_t place)
{
    const uint32_t state = set->state_of[value];
    return state != GRAPH_NONE ? set->states[state].block.buffers[place] != NULL
                               : value_slot_is_there(set, value_slot(set, value), place);
}

int value_slot_is_there(const struct value_set *set, uint32_t slot, uint32_t place)
{
    ASSERT(slot < set->plan.slot_count);
    return set->slots[slot].buffers[place] != NULL;
}

uint64_t value_slot_bytes(const struct value_set *set, uint32_t slot, uint32_t place)
{
    ASSERT(slot < set->plan.slot_count);
    return space_bytes(set->spaces, &set->slots[slot], place);
}

void value_free_slot(struct value_set *set, uint32_t slot, uint32_t place)
{
    ASSERT(slot < set->plan.slot_count);
    space_free(set->spaces, &set->slots[slot], place);
}

uint64_t value_bytes(const struct value_set *set, uint32_t value)
{
    return graph_value_bytes(&set->graph->values[value], &set->point);
}

uint64_t value_buffer_bytes(const struct value_set *set, uint32_t value, uint32_t place)
{
    const uint32_t state = set->state_of[value], slot = set->plan.slot_of[value];
    ASSERT(state != GRAPH_NONE || slot != GRAPH_NONE);
    return space_bytes(set->spaces,
                       state != GRAPH_NONE ? &set->states[state].block : &set->slots[slot], place);
}
