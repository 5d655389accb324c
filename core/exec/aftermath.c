// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "exec/aftermath.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "exec/ring.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { MESSAGE_BYTES = 1024 };

#define EVERYWHERE 0xffffu // All spaces, a bit each.

// The first failure of a place.
struct lost_place {
    tapml_status status; // TAPML_OK: none.
    uint32_t op;         // GRAPH_NONE: not known.
    uint32_t step;       // The first that is lost; UINT32_MAX: none but that op.
    char message[MESSAGE_BYTES];
};

struct aftermath {
    struct aftermath_options given;
    struct lost_place of[SPACE_PLACES_MAX];
    uint32_t count;
    uint8_t *failed;  // For each op: its call has failed, and nothing else of its place.
    uint16_t *poison; // For each value, the spaces where it is bad, a bit each.
};

tapml_status aftermath_create(const struct aftermath_options *options,
                              struct aftermath **out_aftermath)
{
    struct aftermath *aftermath = alloc_new(sizeof(*aftermath));
    if (!aftermath) {
        return status_no_memory();
    }
    aftermath->given = *options;
    aftermath->poison = alloc_array(options->graph->value_count, sizeof(*aftermath->poison));
    aftermath->failed = alloc_array(options->graph->op_count, 1);
    if (!aftermath->poison || !aftermath->failed) {
        aftermath_destroy(aftermath);
        return status_no_memory();
    }
    *out_aftermath = aftermath;
    return TAPML_OK;
}

void aftermath_destroy(struct aftermath *aftermath)
{
    if (aftermath) {
        alloc_free(aftermath->poison);
        alloc_free(aftermath->failed);
        alloc_free(aftermath);
    }
}

void aftermath_begin(struct aftermath *aftermath)
{
    if (aftermath->count == 0) {
        return;
    }
    memset(aftermath->failed, 0, aftermath->given.graph->op_count);
    for (uint32_t i = 0; i < SPACE_PLACES_MAX; i++) {
        aftermath->of[i].status = TAPML_OK;
    }
    aftermath->count = 0;
}

int aftermath_any(const struct aftermath *aftermath)
{
    return aftermath->count > 0;
}

// -- Poison ------------------------------------------------------------------------------------

static uint16_t bit_of(const struct aftermath *aftermath, uint32_t place)
{
    return (uint16_t)(1u << (place == SPACE_NO_PLACE
                                 ? SPACE_HOST
                                 : aftermath->given.spaces->places[place].space));
}

// Whether the queue of a place has lost a step.
static int is_lost(const struct aftermath *aftermath, uint32_t place, uint32_t step)
{
    return aftermath->of[place].status != TAPML_OK && step >= aftermath->of[place].step;
}

static uint32_t base_of(const struct binding *binding, uint32_t index)
{
    return binding->graph->values[binding->tensors[index].value].base;
}

static int
reads_poison(const struct aftermath *aftermath, const struct binding *binding, uint16_t bit)
{
    for (uint32_t i = 0; i < binding->tensor_count; i++) {
        if (binding_access(binding, i) != BINDING_WRITES &&
            (aftermath->poison[base_of(binding, i)] & bit) != 0) {
            return 1;
        }
    }
    return 0;
}

static int skip_op(struct aftermath *aftermath, uint32_t op, uint32_t place, int is_bad)
{
    const struct binding *binding = &aftermath->given.bindings[op];
    is_bad = is_bad || aftermath->failed[op] ||
             reads_poison(aftermath, binding, bit_of(aftermath, place));
    for (uint32_t i = 0; i < binding->tensor_count; i++) {
        if (binding_access(binding, i) != BINDING_READS) {
            aftermath->poison[base_of(binding, i)] = is_bad ? EVERYWHERE : 0;
        }
    }
    return is_bad;
}

static int skip_call(struct aftermath *aftermath,
                     const struct program *program,
                     const struct step *step,
                     int is_bad)
{
    for (uint32_t i = 0; i < step->count; i++) {
        is_bad = skip_op(aftermath, program->nodes[step->index + i], step->place, is_bad);
    }
    return is_bad;
}

static int skip_move(struct aftermath *aftermath, const struct step *step, int is_bad)
{
    uint16_t *poison = &aftermath->poison[step->index];
    if (aftermath->given.graph->values[step->index].kind == GRAPH_STATE) {
        // What comes may come from any place; half of it would be no state.
        is_bad = is_bad || *poison != 0;
        *poison = is_bad ? EVERYWHERE : 0;
        return is_bad;
    }
    const uint16_t from = bit_of(aftermath, step->from), to = bit_of(aftermath, step->place);
    is_bad = is_bad || (*poison & from) != 0;
    *poison = (uint16_t)(is_bad ? *poison | to : *poison & ~to);
    return is_bad;
}

static uint32_t routed_op(const struct program *program, const struct step *step)
{
    return program->rings[step->place]->experts.ops[step->index].op;
}

int aftermath_skip(struct aftermath *aftermath, const struct program *program, uint32_t index)
{
    const struct step *step = &program->steps[index];
    const uint32_t place =
        step->kind == STEP_MOVE && step->place == SPACE_NO_PLACE ? step->from : step->place;
    const int is_bad = place != SPACE_NO_PLACE && is_lost(aftermath, place, index);
    switch (step->kind) {
    case STEP_CALL:
        return skip_call(aftermath, program, step, is_bad);
    case STEP_MOVE:
        return skip_move(aftermath, step, is_bad);
    case STEP_CAST:
        return (aftermath->poison[step->index] & 1u << SPACE_HOST) != 0;
    case STEP_WAIT: // A point of what is lost was perhaps never signalled.
        return is_bad || is_lost(aftermath, step->from, index);
    case STEP_ROUTE: // As the call behind it.
        return is_bad ||
               reads_poison(aftermath, &aftermath->given.bindings[routed_op(program, step)],
                            bit_of(aftermath, place));
    case STEP_UPLOAD:
    case STEP_RELEASE:
    case STEP_TURN:
    case STEP_SIGNAL:
        return is_bad;
    }
    return is_bad;
}

// What is poisoned behind the first `queued` steps.
static void spread(struct aftermath *aftermath, const struct program *program, uint32_t queued)
{
    memset(aftermath->poison, 0, aftermath->given.graph->value_count * sizeof(*aftermath->poison));
    for (uint32_t i = 0; i < queued; i++) {
        (void)aftermath_skip(aftermath, program, i);
    }
}

// -- Causes ------------------------------------------------------------------------------------

static int is_part_of_name(char c)
{
    return isalnum((unsigned char)c) || (c != '\0' && strchr("_./-:", c) != NULL);
}

// Whether a message has a name, not as a part of a longer one; a colon may follow.
static int has_name(const char *message, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = strstr(message, name); at; at = strstr(at + 1, name)) {
        const char *behind = at + length + (at[length] == ':');
        if ((at == message || !is_part_of_name(at[-1])) && !is_part_of_name(*behind)) {
            return 1;
        }
    }
    return 0;
}

// The op at a place whose instance a message names; the first of several.
static uint32_t find_op(const struct aftermath *aftermath,
                        const struct program *program,
                        uint32_t place,
                        const char *message)
{
    uint32_t found = GRAPH_NONE;
    for (uint32_t i = 0; i < program->step_count; i++) {
        const struct step *step = &program->steps[i];
        for (uint32_t n = 0; step->kind == STEP_CALL && step->place == place && n < step->count;
             n++) {
            const uint32_t op = program->nodes[step->index + n];
            if (op < found && has_name(message, aftermath->given.graph->ops[op].instance)) {
                found = op;
            }
        }
    }
    return found;
}

// The step in which a place calls an op; 0 if it does not.
static uint32_t find_step(const struct program *program, uint32_t place, uint32_t op)
{
    for (uint32_t i = 0; i < program->step_count; i++) {
        const struct step *step = &program->steps[i];
        for (uint32_t n = 0; step->kind == STEP_CALL && step->place == place && n < step->count;
             n++) {
            if (program->nodes[step->index + n] == op) {
                return i;
            }
        }
    }
    return 0;
}

static void put_failure(struct lost_place *failure, uint32_t op, uint32_t step, tapml_status status)
{
    failure->status = status;
    failure->op = op;
    failure->step = step;
    (void)snprintf(failure->message, sizeof(failure->message), "%s", status_message());
}

int aftermath_note(struct aftermath *aftermath,
                   const struct program *program,
                   uint32_t queued,
                   uint32_t place,
                   uint32_t op,
                   tapml_status status)
{
    ASSERT(status != TAPML_OK && place < aftermath->given.spaces->place_count);
    struct lost_place *failure = &aftermath->of[place];
    if (op != GRAPH_NONE && aftermath->given.spaces->places[place].space == SPACE_HOST) {
        if (aftermath->failed[op]) {
            return 0;
        }
        aftermath->failed[op] = 1;
        if (failure->status == TAPML_OK || op < failure->op) {
            put_failure(failure, op, UINT32_MAX, status);
        }
    } else if (failure->status == TAPML_OK) {
        op = op == GRAPH_NONE ? find_op(aftermath, program, place, status_message()) : op;
        put_failure(failure, op, op == GRAPH_NONE ? 0 : find_step(program, place, op), status);
    } else {
        return 0;
    }
    aftermath->count++;
    spread(aftermath, program, queued);
    return 1;
}

int aftermath_is_poisoned(const struct aftermath *aftermath, uint32_t value, uint32_t place)
{
    ASSERT(value < aftermath->given.graph->value_count);
    return aftermath->count > 0 && (aftermath->poison[value] & bit_of(aftermath, place)) != 0;
}

// The message without the place, where it begins with that.
static const char *without_place(const struct lost_place *failure, const char *place)
{
    const size_t length = strlen(place);
    const char *message = failure->message;
    return strncmp(message, "on ", 3) == 0 && strncmp(message + 3, place, length) == 0 &&
                   strncmp(message + 3 + length, ": ", 2) == 0
               ? message + length + 5
               : message;
}

// The failure whose op stands first in the graph, or NULL.
static const struct lost_place *first_of(const struct aftermath *aftermath)
{
    const struct lost_place *first = NULL;
    for (uint32_t i = 0; i < aftermath->given.spaces->place_count; i++) {
        const struct lost_place *lost = &aftermath->of[i];
        // An op that is not known is the last of all: it accuses nobody.
        if (lost->status != TAPML_OK && (!first || lost->op < first->op)) {
            first = lost;
        }
    }
    return first;
}

uint32_t aftermath_op(const struct aftermath *aftermath)
{
    const struct lost_place *first = first_of(aftermath);
    return first ? first->op : GRAPH_NONE;
}

tapml_status aftermath_status(const struct aftermath *aftermath)
{
    const struct lost_place *first = first_of(aftermath);
    if (!first) {
        return TAPML_OK;
    }
    if (first->op == GRAPH_NONE) {
        return status_fail(first->status, "%s", first->message);
    }
    const struct graph_op *op = &aftermath->given.graph->ops[first->op];
    const char *name = aftermath->given.spaces->places[first - aftermath->of].name;
    return status_fail(first->status, "%s (%s) on %s: %s", op->instance, op->op->name, name,
                       without_place(first, name));
}
