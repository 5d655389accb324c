// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "exec/dispatch.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "exec/residency.h"
#include "exec/value.h"

#include <string.h>

#define NONE UINT32_MAX

// The places, and the host itself.
enum { LANES = SPACE_PLACES_MAX + 1, HOST_LANE = SPACE_NO_PLACE };

// Who used something last: a slot's host memory, or a state wherever it is.
struct use {
    uint32_t written; // Step, or NONE.
    uint32_t readers; // Since then: the last one, in `links`; or NONE.
};

// A step in a list.
struct link {
    uint32_t step;
    uint32_t next; // Or NONE.
};

struct links {
    struct link *items;
    size_t count, capacity;
};

struct dispatcher {
    const struct dispatch_options *given;
    struct program *program;
    struct use *slots;  // Of host memory.
    struct use *states; // For each value; every step that touches a state writes it here.
    uint16_t *places;   // For each value that is a state: the places that use it, a bit each.
    uint32_t *signals;  // For each point, the step that signals it.
    uint32_t *uploads;  // For each resident of the program, its last upload.
    struct links links; // Of readers.
    int has_releases;   // Or turns: then all places keep their order.

    // The last wait of each lane for each place; the last step of each; the last that keeps order.
    uint32_t waited[LANES][SPACE_PLACES_MAX];
    uint32_t last[LANES];
    uint32_t barrier; // Nothing moves across this step.

    // For each step: those that need it, in `needed_by`; how many it needs that are not queued.
    uint32_t *first_needed_by;
    struct links needed_by;
    uint32_t *missing;

    // For each step that is ready: when what it waits for was queued.
    uint64_t *ranks;
    uint32_t *ready;
    uint32_t ready_count;
};

static uint8_t lane_of(const struct step *step)
{
    if (step->kind == STEP_CAST) {
        return HOST_LANE;
    }
    return step->kind == STEP_MOVE && step->place == SPACE_NO_PLACE ? step->from : step->place;
}

static int is_state(const struct dispatcher *dispatcher, uint32_t value)
{
    return dispatcher->given->graph->values[value].kind == GRAPH_STATE;
}

// States move by way of host memory, after a wait, from where they were written.
static int is_shared_state(const struct dispatcher *dispatcher, uint32_t value)
{
    const uint16_t places = dispatcher->places[value];
    return (places & (places - 1)) != 0;
}

static int is_on_host(const struct dispatcher *dispatcher, uint8_t lane)
{
    return lane == HOST_LANE || dispatcher->given->spaces->places[lane].space == SPACE_HOST;
}

// Whether a step stays behind those before it in its lane. What is on host memory is done, or
// waited for, when another place begins.
static int keeps_order(const struct dispatcher *dispatcher, const struct step *step)
{
    return dispatcher->has_releases || !is_on_host(dispatcher, lane_of(step));
}

// Whether the host may be held up at a step.
static int is_blocking(const struct dispatcher *dispatcher, const struct step *step)
{
    switch (step->kind) {
    case STEP_WAIT: // Of a place, too: not every queue can wait for another.
    case STEP_CAST:
    case STEP_RELEASE:
        return 1;
    case STEP_ROUTE:
        return 1;
    case STEP_CALL:
    case STEP_TURN:
        return is_on_host(dispatcher, step->place);
    case STEP_MOVE:
        return is_state(dispatcher, step->index) && is_shared_state(dispatcher, step->index);
    case STEP_UPLOAD:
    case STEP_SIGNAL:
        return 0;
    }
    return 1;
}

static tapml_status put_link(struct links *links, uint32_t step, uint32_t *io_first)
{
    if (!alloc_grow((void **)&links->items, &links->capacity, links->count,
                    sizeof(*links->items))) {
        return status_no_memory();
    }
    links->items[links->count] = (struct link){.step = step, .next = *io_first};
    *io_first = (uint32_t)links->count++;
    return TAPML_OK;
}

// -- What a step needs -------------------------------------------------------------------------

static tapml_status need(struct dispatcher *dispatcher, uint32_t step, uint32_t needed)
{
    if (needed == NONE) {
        return TAPML_OK;
    }
    ASSERT(needed < step);
    dispatcher->missing[step]++;
    return put_link(&dispatcher->needed_by, step, &dispatcher->first_needed_by[needed]);
}

// An earlier step is queued, and where it is of another place it was waited for, as far as the
// order of the graph says so.
static tapml_status need_after(struct dispatcher *dispatcher, uint32_t step, uint32_t needed)
{
    if (needed == NONE) {
        return TAPML_OK;
    }
    const uint8_t lane = lane_of(&dispatcher->program->steps[step]);
    const uint8_t other = lane_of(&dispatcher->program->steps[needed]);
    TAPML_TRY(need(dispatcher, step, needed));
    if (other == HOST_LANE || other == lane) {
        return TAPML_OK;
    }
    TAPML_TRY(need(dispatcher, step, dispatcher->waited[HOST_LANE][other]));
    return lane == HOST_LANE ? TAPML_OK : need(dispatcher, step, dispatcher->waited[lane][other]);
}

static tapml_status use(struct dispatcher *dispatcher, struct use *use, uint32_t step, int is_write)
{
    TAPML_TRY(need_after(dispatcher, step, use->written));
    if (!is_write) {
        return put_link(&dispatcher->links, step, &use->readers);
    }
    for (uint32_t i = use->readers; i != NONE; i = dispatcher->links.items[i].next) {
        if (dispatcher->links.items[i].step != step) {
            TAPML_TRY(need_after(dispatcher, step, dispatcher->links.items[i].step));
        }
    }
    *use = (struct use){.written = step, .readers = NONE};
    return TAPML_OK;
}

static tapml_status
use_value(struct dispatcher *dispatcher, uint32_t value, uint32_t step, int is_write)
{
    if (is_state(dispatcher, value)) {
        struct use *state = &dispatcher->states[value];
        return state->written == step ? TAPML_OK : use(dispatcher, state, step, 1);
    }
    struct use *slot = &dispatcher->slots[value_slot(dispatcher->given->values, value)];
    return slot->written == step ? TAPML_OK : use(dispatcher, slot, step, is_write);
}

static uint32_t base_of(const struct binding *binding, uint32_t index)
{
    return binding->graph->values[binding->tensors[index].value].base;
}

static tapml_status
use_weight(struct dispatcher *dispatcher, const struct resident *resident, uint32_t step)
{
    const struct program *program = dispatcher->program;
    const uint32_t slot = resident->slot;
    ASSERT(slot < program->resident_count && program->residents[slot] == resident);
    return need(dispatcher, step, dispatcher->uploads[slot]); // None of what lies in a ring.
}

// What a place with memory of its own uses there is in the order of its queue. Reads stand first:
// nothing that is read here waits for what is written here.
static tapml_status use_op(struct dispatcher *dispatcher, uint32_t op, uint32_t step, uint8_t place)
{
    const struct binding *binding = &dispatcher->given->bindings[op];
    for (int is_write = 0; is_write < 2; is_write++) {
        for (uint32_t i = 0; i < binding->tensor_count; i++) {
            const uint32_t base = base_of(binding, i);
            if ((binding_access(binding, i) != BINDING_READS) != is_write) {
                continue;
            }
            if (binding_is_weight(binding, i)) {
                TAPML_TRY(use_weight(dispatcher, binding->tensors[i].resident[place], step));
            } else if (is_state(dispatcher, base) || is_on_host(dispatcher, place)) {
                TAPML_TRY(use_value(dispatcher, base, step, is_write));
            }
        }
    }
    return TAPML_OK;
}

// A state that several places use: who has its rows is known when the step runs, which stands
// between all before it and all behind it.
static tapml_status need_all(struct dispatcher *dispatcher, uint32_t step)
{
    const uint32_t from = dispatcher->barrier == NONE ? 0 : dispatcher->barrier;
    for (uint32_t i = from; i < step; i++) {
        TAPML_TRY(need(dispatcher, step, i));
    }
    dispatcher->barrier = step;
    return TAPML_OK;
}

static tapml_status look_at_wait(struct dispatcher *dispatcher, uint32_t index, uint8_t lane)
{
    const struct step *step = &dispatcher->program->steps[index];
    TAPML_TRY(need(dispatcher, index, dispatcher->signals[step->index]));
    TAPML_TRY(need(dispatcher, index, dispatcher->waited[HOST_LANE][step->from]));
    dispatcher->waited[lane][step->from] = index;
    return TAPML_OK;
}

static tapml_status look_at_step(struct dispatcher *dispatcher, uint32_t index)
{
    const struct program *program = dispatcher->program;
    const struct step *step = &program->steps[index];
    const uint8_t lane = lane_of(step);
    TAPML_TRY(need(dispatcher, index, dispatcher->barrier));
    if (keeps_order(dispatcher, step)) {
        TAPML_TRY(need(dispatcher, index, dispatcher->last[lane]));
        dispatcher->last[lane] = index;
    }
    switch (step->kind) {
    case STEP_CALL:
        for (uint32_t i = 0; i < step->count; i++) {
            TAPML_TRY(use_op(dispatcher, program->nodes[step->index + i], index, lane));
        }
        return TAPML_OK;
    case STEP_MOVE:
        if (is_state(dispatcher, step->index) && is_shared_state(dispatcher, step->index)) {
            TAPML_TRY(need_all(dispatcher, index));
        }
        return use_value(dispatcher, step->index, index, step->place == SPACE_NO_PLACE);
    case STEP_CAST: // It reads what comes, and writes what goes on.
        return use_value(dispatcher, step->index, index, 1);
    case STEP_SIGNAL:
        dispatcher->signals[step->index] = index;
        return TAPML_OK;
    case STEP_WAIT:
        return look_at_wait(dispatcher, index, lane);
    case STEP_UPLOAD:
        dispatcher->uploads[step->index] = index;
        return TAPML_OK;
    case STEP_RELEASE:
    case STEP_TURN: // In the order of its place.
    case STEP_ROUTE:
        return TAPML_OK;
    }
    return TAPML_OK;
}

static void find_places(struct dispatcher *dispatcher)
{
    const struct graph *graph = dispatcher->given->graph;
    for (uint32_t op = 0; op < graph->op_count; op++) {
        const struct binding *binding = &dispatcher->given->bindings[op];
        for (uint32_t k = 0; k < binding->tensor_count; k++) {
            uint16_t *places = &dispatcher->places[base_of(binding, k)];
            *places = (uint16_t)(*places | 1u << dispatcher->given->places[op]);
        }
    }
}

// -- The order ---------------------------------------------------------------------------------

// The best of the steps that may be queued now: one that holds nobody up, the first in the graph;
// else one that waits for what was queued first.
static uint32_t choose(const struct dispatcher *dispatcher)
{
    uint32_t best = 0;
    int best_blocks = 0;
    ASSERT(dispatcher->ready_count > 0); // The first that is not queued needs earlier ones alone.
    for (uint32_t i = 0; i < dispatcher->ready_count; i++) {
        const uint32_t step = dispatcher->ready[i], best_step = dispatcher->ready[best];
        const int blocks = is_blocking(dispatcher, &dispatcher->program->steps[step]);
        const uint64_t rank = blocks ? dispatcher->ranks[step] : 0;
        const uint64_t best_rank = best_blocks ? dispatcher->ranks[best_step] : 0;
        const int is_first = rank != best_rank ? rank < best_rank : step < best_step;
        if (i == 0 || blocks < best_blocks || (blocks == best_blocks && is_first)) {
            best = i;
            best_blocks = blocks;
        }
    }
    return best;
}

static void queue(struct dispatcher *dispatcher, uint32_t step, uint64_t count)
{
    const int is_signal = dispatcher->program->steps[step].kind == STEP_SIGNAL;
    for (uint32_t i = dispatcher->first_needed_by[step]; i != NONE;
         i = dispatcher->needed_by.items[i].next) {
        ASSERT(dispatcher->needed_by.items != NULL);
        const uint32_t other = dispatcher->needed_by.items[i].step;
        const int is_wait = dispatcher->program->steps[other].kind == STEP_WAIT;
        const uint64_t rank = is_signal && is_wait ? count : dispatcher->ranks[step];
        if (rank > dispatcher->ranks[other]) {
            dispatcher->ranks[other] = rank;
        }
        if (--dispatcher->missing[other] == 0) {
            dispatcher->ready[dispatcher->ready_count++] = other;
        }
    }
}

static void line_up(struct dispatcher *dispatcher, struct step *out_steps)
{
    const uint32_t step_count = dispatcher->program->step_count;
    for (uint32_t i = 0; i < step_count; i++) {
        if (dispatcher->missing[i] == 0) {
            dispatcher->ready[dispatcher->ready_count++] = i;
        }
    }
    for (uint32_t i = 0; i < step_count; i++) {
        const uint32_t at = choose(dispatcher), step = dispatcher->ready[at];
        dispatcher->ready[at] = dispatcher->ready[--dispatcher->ready_count];
        out_steps[i] = dispatcher->program->steps[step];
        queue(dispatcher, step, i + 1);
    }
}

static tapml_status order(struct dispatcher *dispatcher)
{
    struct program *program = dispatcher->program;
    find_places(dispatcher);
    for (uint32_t i = 0; i < program->step_count; i++) {
        TAPML_TRY(look_at_step(dispatcher, i));
    }
    struct step *steps = alloc_array(program->step_count, sizeof(*steps));
    if (!steps) {
        return status_no_memory();
    }
    line_up(dispatcher, steps);
    alloc_free(program->steps);
    program->steps = steps;
    return TAPML_OK;
}

static void *filled(size_t count, size_t item_size)
{
    void *items = alloc_array(count, item_size);
    if (items) {
        memset(items, 0xff, count * item_size); // NONE
    }
    return items;
}

static int has_releases(const struct program *program)
{
    uint32_t i = 0;
    while (i < program->step_count && program->steps[i].kind != STEP_RELEASE &&
           program->steps[i].kind != STEP_TURN && program->steps[i].kind != STEP_ROUTE) {
        i++;
    }
    return i < program->step_count;
}

static int has_one_place(const struct dispatch_options *options)
{
    uint32_t op = 0;
    while (op < options->graph->op_count && options->places[op] == options->places[0]) {
        op++;
    }
    return op == options->graph->op_count;
}

tapml_status dispatch_order(const struct dispatch_options *options, struct program *program)
{
    const size_t value_count = options->graph->value_count, count = program->step_count;
    if (has_one_place(options)) {
        return TAPML_OK;
    }
    struct dispatcher dispatcher = {
        .given = options,
        .program = program,
        .barrier = NONE,
        .has_releases = has_releases(program),
        .slots = filled(value_slot_count(options->values), sizeof(*dispatcher.slots)),
        .states = filled(value_count, sizeof(*dispatcher.states)),
        .places = alloc_array(value_count, sizeof(*dispatcher.places)),
        .signals = filled(program->point_count, sizeof(*dispatcher.signals)),
        .uploads = filled(program->resident_count, sizeof(*dispatcher.uploads)),
        .first_needed_by = filled(count, sizeof(*dispatcher.first_needed_by)),
        .missing = alloc_array(count, sizeof(*dispatcher.missing)),
        .ranks = alloc_array(count, sizeof(*dispatcher.ranks)),
        .ready = alloc_array(count, sizeof(*dispatcher.ready)),
    };
    memset(dispatcher.waited, 0xff, sizeof(dispatcher.waited));
    memset(dispatcher.last, 0xff, sizeof(dispatcher.last));
    const int has_all = dispatcher.slots && dispatcher.states && dispatcher.places &&
                        dispatcher.signals && dispatcher.uploads && dispatcher.first_needed_by &&
                        dispatcher.missing && dispatcher.ranks && dispatcher.ready;
    const tapml_status status = has_all ? order(&dispatcher) : status_no_memory();
    alloc_free(dispatcher.slots);
    alloc_free(dispatcher.states);
    alloc_free(dispatcher.places);
    alloc_free(dispatcher.signals);
    alloc_free(dispatcher.uploads);
    alloc_free(dispatcher.links.items);
    alloc_free(dispatcher.first_needed_by);
    alloc_free(dispatcher.needed_by.items);
    alloc_free(dispatcher.missing);
    alloc_free(dispatcher.ranks);
    alloc_free(dispatcher.ready);
    return status;
}
