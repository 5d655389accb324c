// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "exec/ring_pass.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "exec/residency.h"
#include "exec/residency_slots.h"
#include "exec/ring.h"

#include <string.h>

enum { SLOT_BYTES_MAX = INT32_MAX }; // Offsets of bytes stay within what kernels count with.

#define NONE UINT32_MAX

struct pass {
    const struct ring_pass_options *given;
    struct program *program;
    uint8_t place;
    uint32_t *numbers; // For each resident of the program, its number in the plan; NONE.
    struct ring_program *ring;
    uint64_t *weight_bytes;
    uint32_t *uses, *ends, *steps; // Of each op at the place: its last use, its step.
    size_t use_capacity;
    uint32_t use_count, op_count;
};

static const struct residency *weights_of(const struct pass *pass)
{
    return pass->given->spaces->places[pass->place].weights;
}

// The weights of a call, each once.
static tapml_status note_op(struct pass *pass, uint32_t op)
{
    const struct binding *binding = &pass->given->bindings[op];
    const uint32_t begin = pass->use_count;
    for (uint32_t i = 0; i < binding->tensor_count; i++) {
        if (!binding_is_weight(binding, i)) {
            continue;
        }
        struct resident *resident = binding->tensors[i].resident[pass->place];
        const uint32_t slot = resident->slot;
        ASSERT(slot < pass->program->resident_count && pass->program->residents[slot] == resident);
        if (pass->numbers[slot] == NONE) {
            pass->numbers[slot] = pass->ring->weight_count;
            pass->weight_bytes[pass->ring->weight_count] =
                residency_slots_bytes(weights_of(pass), resident);
            pass->ring->weights[pass->ring->weight_count++] = resident;
        }
        const uint32_t number = pass->numbers[slot];
        uint32_t at = begin;
        while (at < pass->use_count && pass->uses[at] != number) {
            at++;
        }
        if (at < pass->use_count) {
            continue;
        }
        if (!alloc_grow((void **)&pass->uses, &pass->use_capacity, pass->use_count,
                        sizeof(*pass->uses))) {
            return status_no_memory();
        }
        pass->uses[pass->use_count++] = number;
    }
    return TAPML_OK;
}

static tapml_status note_all(struct pass *pass)
{
    for (uint32_t i = 0; i < pass->program->step_count; i++) {
        const struct step *step = &pass->program->steps[i];
        if (step->kind != STEP_CALL || step->place != pass->place) {
            continue;
        }
        for (uint32_t n = 0; n < step->count; n++) {
            TAPML_TRY(note_op(pass, pass->program->nodes[step->index + n]));
        }
        pass->steps[pass->op_count] = i;
        pass->ends[pass->op_count++] = pass->use_count;
    }
    return TAPML_OK;
}

// Of what the device has, a tenth is left to states and values.
static struct ring_settings settings_of(const struct pass *pass)
{
    const struct space_place *place = &pass->given->spaces->places[pass->place];
    struct ring_settings settings = *ring_settings_of(place->ring);
    const uint64_t memory_bytes = backend_info(place->backend)->memory_bytes;
    if (settings.amount == RING_AUTO && memory_bytes > 0) {
        settings.amount = RING_BYTES;
        settings.bytes = memory_bytes / 10 * 9;
    }
    return settings;
}

static tapml_status make_plan(struct pass *pass)
{
    const struct space_place *place = &pass->given->spaces->places[pass->place];
    const struct backend_info *info = backend_info(place->backend);
    const uint64_t buffer_bytes = info->buffer_bytes_max;
    const struct ring_plan_options options = {
        .weight_bytes = pass->weight_bytes,
        .weight_count = pass->ring->weight_count,
        .uses = pass->uses,
        .ends = pass->ends,
        .op_count = pass->op_count,
        .settings = settings_of(pass),
        .slot_bytes_max = info->is_host_memory                                ? 0
                          : buffer_bytes > 0 && buffer_bytes < SLOT_BYTES_MAX ? buffer_bytes
                                                                              : SLOT_BYTES_MAX,
    };
    uint32_t op = NONE;
    const tapml_status status = ring_plan_make(&options, &op, &pass->ring->plan);
    if (status == TAPML_OK || op == NONE) {
        return status;
    }
    const struct step *step = &pass->program->steps[pass->steps[op]];
    return status_explain(status, "%s on %s",
                          pass->given->graph->ops[pass->program->nodes[step->index]].instance,
                          place->name);
}

// Of a device: what does not stay lies in slots from now on.
static void keep_in_slots(const struct pass *pass)
{
    for (uint32_t i = 0; i < pass->ring->weight_count; i++) {
        if (!pass->ring->plan.stays[i] && !pass->ring->weights[i]->tensor) {
            residency_slots_keep(pass->ring->weights[i], 1);
        }
    }
}

static int is_in_slots(const struct pass *pass, const struct step *step)
{
    return step->kind == STEP_UPLOAD && step->place == pass->place &&
           pass->numbers[step->index] != NONE &&
           !pass->ring->plan.stays[pass->numbers[step->index]];
}

static tapml_status put_turns(struct pass *pass)
{
    const struct ring_plan *plan = &pass->ring->plan;
    struct program *program = pass->program;
    const int is_host =
        backend_info(pass->given->spaces->places[pass->place].backend)->is_host_memory;
    struct step *steps =
        alloc_array((size_t)program->step_count + plan->section_count + 1, sizeof(*steps));
    uint32_t count = 0, section = 0;
    if (!steps) {
        return status_no_memory();
    }
    for (uint32_t i = 0; i < program->step_count; i++) {
        if (section < plan->section_count && pass->steps[plan->sections[section].op] == i) {
            steps[count++] =
                (struct step){.kind = STEP_TURN, .place = pass->place, .index = section++};
        }
        if (is_host || !is_in_slots(pass, &program->steps[i])) {
            steps[count++] = program->steps[i];
        }
    }
    ASSERT(section == plan->section_count);
    alloc_free(program->steps);
    program->steps = steps;
    program->step_count = count;
    return TAPML_OK;
}

static tapml_status run(struct pass *pass)
{
    TAPML_TRY(note_all(pass));
    TAPML_TRY(make_plan(pass));
    if (!backend_info(pass->given->spaces->places[pass->place].backend)->is_host_memory) {
        keep_in_slots(pass);
    }
    return put_turns(pass);
}

static tapml_status
pass_place(const struct ring_pass_options *options, struct program *program, uint8_t place)
{
    const size_t resident_count = program->resident_count, step_count = program->step_count;
    struct pass pass = {
        .given = options,
        .program = program,
        .place = place,
        .ring = alloc_new(sizeof(*pass.ring)),
        .numbers = alloc_array(resident_count + 1, sizeof(*pass.numbers)),
        .weight_bytes = alloc_array(resident_count + 1, sizeof(*pass.weight_bytes)),
        .ends = alloc_array(step_count + 1, sizeof(*pass.ends)),
        .steps = alloc_array(step_count + 1, sizeof(*pass.steps)),
    };
    program->rings[place] = pass.ring;
    if (pass.ring) {
        pass.ring->weights = alloc_array(resident_count + 1, sizeof(struct resident *));
    }
    tapml_status status = status_no_memory();
    if (pass.ring && pass.ring->weights && pass.numbers && pass.weight_bytes && pass.ends &&
        pass.steps) {
        memset(pass.numbers, 0xff, (resident_count + 1) * sizeof(*pass.numbers)); // NONE
        status = run(&pass);
    }
    alloc_free(pass.numbers);
    alloc_free(pass.weight_bytes);
    alloc_free(pass.uses);
    alloc_free(pass.ends);
    alloc_free(pass.steps);
    return status;
}

tapml_status ring_pass(const struct ring_pass_options *options, struct program *program)
{
    for (uint32_t i = 0; i < options->spaces->place_count; i++) {
        if (options->spaces->places[i].ring) {
            TAPML_TRY(pass_place(options, program, (uint8_t)i));
        }
    }
    return TAPML_OK;
}
