// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "exec/allowance.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "exec/residency.h"
#include "exec/ring.h"

#include <string.h>

#define NEVER UINT32_MAX

// A slot at the place that is looked at.
struct slot_use {
    uint32_t next; // The next step that uses it, or NEVER.
    int is_needed; // Its values are still to be read.
};

struct allowance {
    struct allowance_options given;
    struct slot_use *slots;
    int has_any; // A place has a budget.
};

// What a step needs at once, in bytes.
struct demand {
    uint64_t weights, values, states;
};

tapml_status allowance_create(const struct allowance_options *options,
                              struct allowance **out_allowance)
{
    struct allowance *allowance = alloc_new(sizeof(*allowance));
    if (!allowance) {
        return status_no_memory();
    }
    allowance->given = *options;
    for (uint32_t i = 0; i < options->spaces->place_count; i++) {
        allowance->has_any = allowance->has_any || options->spaces->places[i].budget_bytes > 0;
    }
    allowance->slots = alloc_array(value_slot_count(options->values), sizeof(*allowance->slots));
    if (!allowance->slots) {
        allowance_destroy(allowance);
        return status_no_memory();
    }
    *out_allowance = allowance;
    return TAPML_OK;
}

void allowance_destroy(struct allowance *allowance)
{
    if (allowance) {
        alloc_free(allowance->slots);
        alloc_free(allowance);
    }
}

static struct space_place *place_of(const struct allowance *allowance, uint32_t place)
{
    return &allowance->given.spaces->places[place];
}

static uint64_t used_bytes(const struct allowance *allowance, uint32_t place)
{
    const struct space_place *own = place_of(allowance, place);
    return own->bytes + (own->weights ? residency_copied_bytes(own->weights) : 0);
}

int allowance_has_room(const struct allowance *allowance,
                       uint32_t place,
                       const struct resident *resident)
{
    const struct space_place *own = place_of(allowance, place);
    return own->budget_bytes == 0 ||
           used_bytes(allowance, place) + residency_bytes(own->weights, resident) <=
               own->budget_bytes;
}

static uint32_t base_of(const struct binding *binding, uint32_t index)
{
    return binding->graph->values[binding->tensors[index].value].base;
}

static int is_state(const struct allowance *allowance, uint32_t value)
{
    return allowance->given.graph->values[value].kind == GRAPH_STATE;
}

// The place whose memory a step uses; SPACE_NO_PLACE: none.
static uint32_t place_of_step(const struct step *step)
{
    if (step->kind == STEP_MOVE) {
        return step->place == SPACE_NO_PLACE ? step->from : step->place;
    }
    return step->kind == STEP_CALL ? step->place : SPACE_NO_PLACE;
}

// -- What comes --------------------------------------------------------------------------------

static void note_slot(struct allowance *allowance, uint32_t value, uint32_t step, int is_read)
{
    if (!is_state(allowance, value)) {
        allowance->slots[value_slot(allowance->given.values, value)] =
            (struct slot_use){.next = step, .is_needed = is_read};
    }
}

// To be called from the last step of a place to the first.
static void note_step(struct allowance *allowance,
                      const struct program *program,
                      uint32_t index,
                      void (*note_weight)(struct resident *resident, uint32_t step))
{
    const struct step *step = &program->steps[index];
    if (step->kind == STEP_MOVE) {
        note_slot(allowance, step->index, index, step->place == SPACE_NO_PLACE);
        return;
    }
    for (uint32_t n = step->count; n > 0; n--) {
        const struct binding *binding =
            &allowance->given.bindings[program->nodes[step->index + n - 1]];
        for (uint32_t i = 0; i < binding->tensor_count; i++) {
            if (binding_is_weight(binding, i)) {
                note_weight(binding->tensors[i].resident[step->place], index);
            } else {
                note_slot(allowance, base_of(binding, i), index,
                          binding_access(binding, i) != BINDING_WRITES);
            }
        }
    }
}

static void set_next_use(struct resident *resident, uint32_t step)
{
    resident->next_use = step;
}

static void ignore_weight(struct resident *resident, uint32_t step)
{
}

// What the host may ask for behind the last step.
static void note_end(struct allowance *allowance, const struct program *program, uint32_t place)
{
    const struct graph *graph = allowance->given.graph;
    const uint32_t space = place_of(allowance, place)->space;
    for (uint32_t i = 0; i < value_slot_count(allowance->given.values); i++) {
        allowance->slots[i] = (struct slot_use){.next = NEVER};
    }
    for (uint32_t i = 0; i < graph->output_count; i++) {
        const uint32_t base = graph->values[graph->outputs[i].value].base;
        const int is_computed = graph->values[base].kind == GRAPH_COMPUTED;
        if (is_computed && (program->valid[base] >> space & 1) != 0) {
            note_slot(allowance, base, NEVER, 1);
        }
    }
}

// -- What can never fit ------------------------------------------------------------------------

static int is_first(const struct binding *binding, uint32_t index)
{
    uint32_t i = 0;
    while (base_of(binding, i) != base_of(binding, index)) {
        i++;
    }
    return i == index;
}

static uint64_t
weight_bytes(const struct allowance *allowance, const struct binding *binding, uint32_t place)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < binding->tensor_count; i++) {
        if (binding_is_weight(binding, i) && is_first(binding, i)) {
            bytes += residency_bytes(place_of(allowance, place)->weights,
                                     binding->tensors[i].resident[place]);
        }
    }
    return bytes;
}

// The states that are there, and those that come.
static uint64_t
state_bytes(const struct allowance *allowance, const struct program *program, uint32_t place)
{
    const struct graph *graph = allowance->given.graph;
    uint64_t bytes = 0;
    for (uint32_t v = 0; v < graph->value_count; v++) {
        const int is_used = (program->valid[v] >> place_of(allowance, place)->space & 1) != 0;
        if (graph->values[v].kind == GRAPH_STATE &&
            (is_used || value_has_buffer(allowance->given.values, v, place))) {
            bytes += value_buffer_bytes(allowance->given.values, v, place);
        }
    }
    return bytes;
}

// The values that are at the place while a step is done: its own, and those that a later one reads.
static uint64_t value_bytes_at(const struct allowance *allowance, uint32_t place, uint32_t step)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < value_slot_count(allowance->given.values); i++) {
        if (allowance->slots[i].is_needed || allowance->slots[i].next == step) {
            bytes += value_slot_bytes(allowance->given.values, i, place);
        }
    }
    return bytes;
}

static tapml_status refuse(const struct allowance *allowance,
                           const struct program *program,
                           const struct step *step,
                           const struct demand *demand)
{
    const struct graph *graph = allowance->given.graph;
    const uint32_t place = place_of_step(step);
    const char *name = step->kind == STEP_CALL ? graph->ops[program->nodes[step->index]].instance
                                               : graph->values[step->index].name;
    const uint64_t bytes = demand->weights + demand->values + demand->states;
    return status_fail(TAPML_NO_MEMORY,
                       "%s on %s needs %llu bytes at once, %llu of weights, %llu of states and "
                       "%llu of values: its budget is %llu",
                       name, place_of(allowance, place)->name, (unsigned long long)bytes,
                       (unsigned long long)demand->weights, (unsigned long long)demand->states,
                       (unsigned long long)demand->values,
                       (unsigned long long)place_of(allowance, place)->budget_bytes);
}

static tapml_status
check_place(struct allowance *allowance, const struct program *program, uint32_t place)
{
    struct demand most = {0};
    const struct step *worst = NULL;
    const uint64_t states = state_bytes(allowance, program, place);
    const struct ring_program *ring = program->rings[place];
    const uint64_t slots = ring ? ring->plan.slots * ring->plan.slot_bytes +
                                      ring->experts.slots * ring->experts.unit_bytes
                                : 0;
    note_end(allowance, program, place);
    for (uint32_t i = program->step_count; i > 0; i--) {
        const struct step *step = &program->steps[i - 1];
        if (place_of_step(step) != place) {
            continue;
        }
        note_step(allowance, program, i - 1, ignore_weight);
        struct demand demand = {
            .weights = slots, .values = value_bytes_at(allowance, place, i - 1), .states = states};
        for (uint32_t n = 0; step->kind == STEP_CALL && n < step->count; n++) {
            demand.weights += weight_bytes(
                allowance, &allowance->given.bindings[program->nodes[step->index + n]], place);
        }
        if (!worst || demand.weights + demand.values > most.weights + most.values) {
            most = demand;
            worst = step;
        }
    }
    return worst && most.weights + most.values + most.states >
                        place_of(allowance, place)->budget_bytes
               ? refuse(allowance, program, worst, &most)
               : TAPML_OK;
}

tapml_status allowance_check(struct allowance *allowance, const struct program *program)
{
    for (uint32_t i = 0; allowance->has_any && i < allowance->given.spaces->place_count; i++) {
        if (place_of(allowance, i)->budget_bytes > 0) {
            TAPML_TRY(check_place(allowance, program, i));
        }
    }
    return TAPML_OK;
}

// -- What is freed -----------------------------------------------------------------------------

// What a value that is used at a place takes more than it has.
static uint64_t lacking_bytes(const struct allowance *allowance, uint32_t value, uint32_t place)
{
    return value_has_buffer(allowance->given.values, value, place)
               ? 0
               : value_buffer_bytes(allowance->given.values, value, place);
}

static uint64_t
lacking_of_op(const struct allowance *allowance, const struct binding *binding, uint32_t place)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < binding->tensor_count; i++) {
        if (!is_first(binding, i)) {
            continue;
        }
        if (!binding_is_weight(binding, i)) {
            bytes += lacking_bytes(allowance, base_of(binding, i), place);
        } else if (!binding->tensors[i].resident[place]->tensor) {
            bytes += residency_bytes(place_of(allowance, place)->weights,
                                     binding->tensors[i].resident[place]);
        }
    }
    return bytes;
}

static uint64_t lacking_of_step(const struct allowance *allowance,
                                const struct program *program,
                                const struct step *step)
{
    uint64_t bytes = 0;
    if (step->kind == STEP_MOVE) {
        return lacking_bytes(allowance, step->index, place_of_step(step));
    }
    for (uint32_t n = 0; n < step->count; n++) {
        bytes += lacking_of_op(
            allowance, &allowance->given.bindings[program->nodes[step->index + n]], step->place);
    }
    return bytes;
}

// What is needed last; `resident` is NULL for a slot.
struct victim {
    struct resident *resident;
    uint32_t slot;
    uint32_t next;
    uint64_t bytes;
};

static void consider(const struct victim *other, uint32_t index, struct victim *victim)
{
    const int is_later =
        other->next != victim->next ? other->next > victim->next : other->bytes > victim->bytes;
    // What the step itself uses stays.
    if (other->bytes > 0 && other->next > index && (victim->bytes == 0 || is_later)) {
        *victim = *other;
    }
}

static struct victim
choose_victim(const struct allowance *allowance, uint32_t place, uint32_t index)
{
    const struct residency *weights = place_of(allowance, place)->weights;
    struct victim victim = {0};
    struct resident *resident = NULL;
    for (size_t i = 0; weights && (resident = residency_at(weights, i)) != NULL; i++) {
        if (resident->tensor) {
            consider(&(struct victim){.resident = resident,
                                      .next = resident->next_use,
                                      .bytes = residency_bytes(weights, resident)},
                     index, &victim);
        }
    }
    for (uint32_t i = 0; i < value_slot_count(allowance->given.values); i++) {
        if (!allowance->slots[i].is_needed &&
            value_slot_is_there(allowance->given.values, i, place)) {
            consider(&(struct victim){.slot = i,
                                      .next = allowance->slots[i].next,
                                      .bytes = value_slot_bytes(allowance->given.values, i, place)},
                     index, &victim);
        }
    }
    return victim;
}

static void look_ahead(struct allowance *allowance,
                       const struct program *program,
                       uint32_t place,
                       uint32_t index)
{
    const struct residency *weights = place_of(allowance, place)->weights;
    struct resident *resident = NULL;
    for (size_t i = 0; weights && (resident = residency_at(weights, i)) != NULL; i++) {
        resident->next_use = NEVER;
    }
    note_end(allowance, program, place);
    for (uint32_t i = program->step_count; i > index; i--) {
        if (place_of_step(&program->steps[i - 1]) == place) {
            note_step(allowance, program, i - 1, set_next_use);
        }
    }
}

static tapml_status
free_victim(struct allowance *allowance, uint32_t place, const struct victim *victim)
{
    if (!victim->resident) {
        value_free_slot(allowance->given.values, victim->slot, place);
        return TAPML_OK;
    }
    return space_explain(allowance->given.spaces, place,
                         residency_release(place_of(allowance, place)->weights, victim->resident));
}

tapml_status allowance_admit(struct allowance *allowance,
                             const struct program *program,
                             uint32_t index,
                             int *out_is_freed)
{
    const struct step *step = &program->steps[index];
    const uint32_t place = allowance->has_any ? place_of_step(step) : SPACE_NO_PLACE;
    *out_is_freed = 0;
    if (place == SPACE_NO_PLACE || place_of(allowance, place)->budget_bytes == 0) {
        return TAPML_OK;
    }
    const uint64_t lacking = lacking_of_step(allowance, program, step);
    const uint64_t limit = place_of(allowance, place)->budget_bytes;
    while (lacking > 0 && used_bytes(allowance, place) + lacking > limit) {
        if (!*out_is_freed) {
            look_ahead(allowance, program, place, index);
            TAPML_TRY(space_wait(allowance->given.spaces, place));
        }
        const struct victim victim = choose_victim(allowance, place, index);
        if (victim.bytes == 0) {
            return space_explain(
                allowance->given.spaces, place,
                status_fail(TAPML_NO_MEMORY,
                            "%llu bytes more are needed, and %llu of a budget of %llu are in use",
                            (unsigned long long)lacking,
                            (unsigned long long)used_bytes(allowance, place),
                            (unsigned long long)limit));
        }
        *out_is_freed = 1;
        TAPML_TRY(free_victim(allowance, place, &victim));
    }
    return TAPML_OK;
}
