// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "exec/step_count.h"

#include "base/alloc.h"
#include "exec/memory.h"

#include <string.h>

// Who uses a value, a bit for each place and each space.
struct value_use {
    uint16_t places;  // That have it as an argument.
    uint16_t writers; // Spaces whose places write it.
};

struct step_counting {
    const struct step_count_options *given;
    struct value_use *uses; // Of each value.
    struct memory_plan slots;
    uint8_t *slot_uses; // Of each slot, the places that use it.
    struct step_count count;
};

uint64_t step_count_bytes(const struct step_count *count)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < SPACE_PLACES_MAX; i++) {
        bytes += count->places[i].bytes_in + count->places[i].bytes_out;
    }
    return bytes;
}

uint32_t step_count_moves(const struct step_count *count)
{
    uint32_t moves = 0;
    for (size_t i = 0; i < SPACE_PLACES_MAX; i++) {
        moves += count->places[i].moves_in + count->places[i].moves_out;
    }
    return moves;
}

uint64_t step_count_memory(const struct step_count_place *place)
{
    return place->weights_bytes + place->states_bytes + place->activations_bytes;
}

// -- Who uses what -----------------------------------------------------------------------------

static void note(struct step_counting *counting, uint32_t value, uint32_t place, int is_written)
{
    struct value_use *use = &counting->uses[counting->given->graph->values[value].base];
    use->places = (uint16_t)(use->places | 1U << place);
    if (is_written) {
        const uint32_t space = counting->given->spaces->places[place].space;
        use->writers = (uint16_t)(use->writers | 1U << space);
    }
}

static void note_argument(struct step_counting *counting,
                          const struct graph_argument *argument,
                          uint32_t place,
                          int is_written)
{
    switch (argument->kind) {
    case TAPML_P_TENSOR_IN:
        note(counting, argument->value, place, is_written);
        return;
    case TAPML_P_TENSOR_OUT:
    case TAPML_P_TENSOR_INOUT:
        note(counting, argument->value, place, 1);
        return;
    case TAPML_P_TENSORS_IN:
        for (uint32_t i = 0; i < argument->count; i++) {
            note(counting, argument->values[i], place, is_written);
        }
        return;
    default:
        return;
    }
}

static void note_all(struct step_counting *counting)
{
    const struct graph *graph = counting->given->graph;
    for (uint32_t op = 0; op < graph->op_count; op++) {
        const uint32_t place = counting->given->places[op];
        counting->count.places[place].calls++;
        for (uint32_t p = 0; p < graph->ops[op].op->n_params; p++) {
            const uint32_t effects = graph->ops[op].op->params[p]->effects;
            note_argument(counting, &graph->ops[op].arguments[p], place,
                          (effects & TAPML_E_STATE_WRITE) != 0);
        }
    }
}

// -- Moves -------------------------------------------------------------------------------------

// The rows of a state that a call writes; all of it where its size does not grow with the sequence.
static uint64_t state_bytes(const struct step_counting *counting, const struct graph_value *state)
{
    const struct affine_point *point = counting->given->point;
    const uint64_t bytes = graph_value_bytes(state, point);
    const int64_t rows = state->rank > 0 ? affine_at(&state->shape[0], point) : 1;
    const int64_t tokens = point->value[AFFINE_TOKENS];
    return rows > tokens && rows == point->value[AFFINE_CAPACITY]
               ? bytes / (uint64_t)rows * (uint64_t)tokens
               : bytes;
}

static void count_in(struct step_count_place *place, uint64_t bytes)
{
    place->moves_in++;
    place->bytes_in += bytes;
}

static void count_out(struct step_count_place *place, uint64_t bytes)
{
    place->moves_out++;
    place->bytes_out += bytes;
}

// Rows of a state come from each other space that writes it, through host memory.
static void count_state(struct step_counting *counting, const struct step *step)
{
    const struct space_set *spaces = counting->given->spaces;
    const struct graph_value *state = &counting->given->graph->values[step->index];
    const struct value_use *use = &counting->uses[step->index];
    const uint32_t own = spaces->places[step->place].space;
    const uint64_t bytes = state_bytes(counting, state);
    for (uint32_t i = 0; i < spaces->place_count; i++) {
        const uint32_t space = spaces->places[i].space;
        if (space == own || (use->places & 1U << i) == 0 || (use->writers & 1U << space) == 0) {
            continue;
        }
        if (space != SPACE_HOST) {
            count_out(&counting->count.places[i], bytes);
        }
        if (own != SPACE_HOST) {
            count_in(&counting->count.places[step->place], bytes);
        }
    }
}

static void count_move(struct step_counting *counting, const struct step *step)
{
    const struct graph_value *value = &counting->given->graph->values[step->index];
    if (value->kind == GRAPH_STATE) {
        count_state(counting, step);
        return;
    }
    const uint64_t plain = graph_value_bytes(value, counting->given->point);
    const uint32_t place = step->place != SPACE_NO_PLACE ? step->place : step->from;
    const enum activation activation = counting->given->spaces->places[place].activation;
    const uint64_t bytes =
        activation_bytes(plain, value_marks(counting->given->values)[step->index]).at[activation];
    if (step->place != SPACE_NO_PLACE) {
        count_in(&counting->count.places[place], bytes);
    } else {
        count_out(&counting->count.places[place], bytes);
    }
}

// -- Memory ------------------------------------------------------------------------------------

static void count_slots(struct step_counting *counting, uint32_t place)
{
    const enum activation activation = counting->given->spaces->places[place].activation;
    for (uint32_t slot = 0; slot < counting->slots.slot_count; slot++) {
        if ((counting->slot_uses[slot] & 1U << place) != 0) {
            counting->count.places[place].activations_bytes +=
                counting->slots.slot_bytes[slot].at[activation];
        }
    }
}

static void count_value(struct step_counting *counting,
                        uint32_t index,
                        uint32_t place,
                        struct step_count_place *to)
{
    const struct graph_value *value = &counting->given->graph->values[index];
    const uint32_t slot = counting->slots.slot_of[index];
    switch (value->kind) {
    case GRAPH_WEIGHT:
    case GRAPH_CONSTANT:
        to->weights_bytes += value->data_bytes > 0
                                 ? value->data_bytes
                                 : graph_value_bytes(value, counting->given->point);
        return;
    case GRAPH_STATE:
        to->states_bytes += value_buffer_bytes(counting->given->values, index, place);
        return;
    case GRAPH_INPUT:
    case GRAPH_COMPUTED:
    case GRAPH_VIEW:
        break;
    }
    if (slot != GRAPH_NONE) {
        counting->slot_uses[slot] = (uint8_t)(counting->slot_uses[slot] | 1U << place);
    }
}

static void count_memory(struct step_counting *counting)
{
    const struct graph *graph = counting->given->graph;
    for (uint32_t place = 0; place < counting->given->spaces->place_count; place++) {
        for (uint32_t v = 0; v < graph->value_count; v++) {
            if ((counting->uses[v].places & 1U << place) != 0) {
                count_value(counting, v, place, &counting->count.places[place]);
            }
        }
        count_slots(counting, place);
    }
}

// -- All of it ---------------------------------------------------------------------------------

static tapml_status count_in_memory(struct step_counting *counting)
{
    const struct program *program = counting->given->program;
    counting->uses =
        alloc_array((size_t)counting->given->graph->value_count + 1, sizeof(*counting->uses));
    counting->slot_uses = alloc_array((size_t)counting->slots.slot_count + 1, 1);
    if (!counting->uses || !counting->slot_uses) {
        return status_no_memory();
    }
    note_all(counting);
    for (uint32_t i = 0; i < program->step_count; i++) {
        if (program->steps[i].kind == STEP_MOVE) {
            count_move(counting, &program->steps[i]);
        }
    }
    count_memory(counting);
    return TAPML_OK;
}

tapml_status step_count_make(const struct step_count_options *options, struct step_count *out_count)
{
    struct step_counting counting = {.given = options};
    TAPML_TRY(value_plan_slots(options->values, options->largest, &counting.slots));
    const tapml_status status = count_in_memory(&counting);
    alloc_free(counting.uses);
    alloc_free(counting.slot_uses);
    memory_plan_release(&counting.slots);
    if (status == TAPML_OK) {
        *out_count = counting.count;
    }
    return status;
}
