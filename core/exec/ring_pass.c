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

#define NONE   UINT32_MAX
#define EXPERT (UINT32_MAX - 1)

struct pass {
    const struct ring_pass_options *given;
    struct program *program;
    uint8_t place;
    uint32_t *numbers; // Of each resident of the program, in the plan; or EXPERT, NONE.
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

// -- Experts -----------------------------------------------------------------------------------

// The parameters of linear_experts 1 that say what is read.
enum { PARAM_INDICES = 1, PARAM_WEIGHTS = 2, PARAM_BIASES = 3 };

static struct resident *resident_of(const struct pass *pass, uint32_t op, uint32_t tensor)
{
    return pass->given->bindings[op].tensors[tensor].resident[pass->place];
}

// The experts of an op, of which each is whole and of this op alone so far; 0: it has none.
static uint32_t count_experts(const struct pass *pass, uint32_t op, uint32_t *out_each)
{
    const struct binding *binding = &pass->given->bindings[op];
    uint32_t weights = 0, biases = 0;
    if (strcmp(binding->op->op->name, "tapml.linear_experts") != 0) {
        return 0;
    }
    for (uint32_t i = 0; i < binding->tensor_count; i++) {
        const uint32_t param = binding->tensors[i].param;
        if (!binding_is_weight(binding, i)) {
            continue;
        }
        const struct resident *resident = resident_of(pass, op, i);
        if (pass->numbers[resident->slot] != NONE || binding_is_view(binding, i) ||
            !residency_slots_are_whole(resident)) {
            return 0;
        }
        weights += param == PARAM_WEIGHTS;
        biases += param == PARAM_BIASES;
    }
    *out_each = biases > 0 ? 2 : 1;
    return weights > 1 && (biases == 0 || biases == weights) ? weights : 0;
}

static void add_unit(struct pass *pass, uint32_t op, uint32_t expert)
{
    const struct binding *binding = &pass->given->bindings[op];
    struct ring_experts_plan *experts = &pass->ring->experts;
    uint32_t weight = 0, bias = 0;
    uint64_t bytes = 0;
    experts->first[experts->unit_count++] = experts->resident_count;
    for (uint32_t i = 0; i < binding->tensor_count; i++) {
        const uint32_t param = binding->tensors[i].param;
        if ((param == PARAM_WEIGHTS && weight++ == expert) ||
            (param == PARAM_BIASES && bias++ == expert)) {
            struct resident *resident = resident_of(pass, op, i);
            pass->numbers[resident->slot] = EXPERT;
            experts->residents[experts->resident_count++] = resident;
            bytes += residency_slots_bytes(weights_of(pass), resident);
        }
    }
    experts->first[experts->unit_count] = experts->resident_count;
    experts->weights_bytes += bytes;
    experts->unit_bytes = bytes > experts->unit_bytes ? bytes : experts->unit_bytes;
}

static uint32_t find_indices(const struct binding *binding)
{
    uint32_t i = 0;
    while (binding->tensors[i].param != PARAM_INDICES) {
        i++;
    }
    return i;
}

// Notes the experts of an op, if it has some.
static int note_experts(struct pass *pass, uint32_t op)
{
    struct ring_experts_plan *experts = &pass->ring->experts;
    uint32_t each = 0;
    const uint32_t count = count_experts(pass, op, &each);
    if (count == 0) {
        return 0;
    }
    experts->ops[experts->op_count++] =
        (struct ring_experts_op){.op = op,
                                 .tensor = find_indices(&pass->given->bindings[op]),
                                 .first_unit = experts->unit_count,
                                 .count = count,
                                 .each = each};
    for (uint32_t e = 0; e < count; e++) {
        add_unit(pass, op, e);
    }
    return 1;
}

// -- Weights -----------------------------------------------------------------------------------

// The weights of a call, each once. Those of experts are not among them.
static tapml_status note_op(struct pass *pass, uint32_t op, int has_routing)
{
    const struct binding *binding = &pass->given->bindings[op];
    if (has_routing && note_experts(pass, op)) {
        return TAPML_OK;
    }
    const uint32_t begin = pass->use_count;
    for (uint32_t i = 0; i < binding->tensor_count; i++) {
        if (!binding_is_weight(binding, i)) {
            continue;
        }
        struct resident *resident = binding->tensors[i].resident[pass->place];
        const uint32_t slot = resident->slot;
        ASSERT(slot < pass->program->resident_count && pass->program->residents[slot] == resident);
        if (pass->numbers[slot] == EXPERT) {
            return status_fail(TAPML_UNIMPLEMENTED,
                               "weight '%s' is an expert of one op and read by another one",
                               resident->key.tensor);
        }
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

static tapml_status note_all(struct pass *pass, int has_routing)
{
    for (uint32_t i = 0; i < pass->program->step_count; i++) {
        const struct step *step = &pass->program->steps[i];
        if (step->kind != STEP_CALL || step->place != pass->place) {
            continue;
        }
        for (uint32_t n = 0; n < step->count; n++) {
            TAPML_TRY(note_op(pass, pass->program->nodes[step->index + n], has_routing));
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

static tapml_status make_plan(struct pass *pass, const struct ring_settings *settings)
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
        .settings = *settings,
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
    for (uint32_t i = 0; i < pass->ring->experts.resident_count; i++) {
        if (!pass->ring->experts.residents[i]->tensor) {
            residency_slots_keep(pass->ring->experts.residents[i], 1);
        }
    }
}

static int is_in_slots(const struct pass *pass, const struct step *step)
{
    return step->kind == STEP_UPLOAD && step->place == pass->place &&
           (pass->numbers[step->index] == EXPERT ||
            (pass->numbers[step->index] != NONE &&
             !pass->ring->plan.stays[pass->numbers[step->index]]));
}

// Whether a step calls the op `index` of those with experts.
static int is_routed(const struct pass *pass, const struct step *step, uint32_t index)
{
    const struct ring_experts_plan *experts = &pass->ring->experts;
    return step->kind == STEP_CALL && step->place == pass->place && index < experts->op_count &&
           experts->ops[index].op == pass->program->nodes[step->index];
}

static tapml_status put_turns(struct pass *pass)
{
    const struct ring_plan *plan = &pass->ring->plan;
    const struct ring_experts_plan *experts = &pass->ring->experts;
    struct program *program = pass->program;
    const int is_host =
        backend_info(pass->given->spaces->places[pass->place].backend)->is_host_memory;
    struct step *steps = alloc_array(
        (size_t)program->step_count + plan->section_count + experts->op_count + 1, sizeof(*steps));
    uint32_t count = 0, section = 0, routed = 0;
    if (!steps) {
        return status_no_memory();
    }
    for (uint32_t i = 0; i < program->step_count; i++) {
        if (section < plan->section_count && pass->steps[plan->sections[section].op] == i) {
            steps[count++] =
                (struct step){.kind = STEP_TURN, .place = pass->place, .index = section++};
        }
        if (is_routed(pass, &program->steps[i], routed)) {
            steps[count++] =
                (struct step){.kind = STEP_ROUTE, .place = pass->place, .index = routed++};
        }
        if (is_host || !is_in_slots(pass, &program->steps[i])) {
            steps[count++] = program->steps[i];
        }
    }
    ASSERT(section == plan->section_count && routed == experts->op_count);
    alloc_free(program->steps);
    program->steps = steps;
    program->step_count = count;
    return TAPML_OK;
}

// -- Memory ------------------------------------------------------------------------------------

static uint64_t weights_bytes(const struct pass *pass)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < pass->ring->weight_count; i++) {
        bytes += pass->weight_bytes[i];
    }
    return bytes;
}

static uint64_t memory_of(const struct ring_settings *settings, uint64_t bytes)
{
    return settings->amount == RING_BYTES   ? settings->bytes
           : settings->amount == RING_SHARE ? (uint64_t)(settings->share * (double)bytes)
                                            : bytes;
}

// The units of the op that has the most of them.
static uint32_t most_units(const struct ring_experts_plan *experts)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < experts->op_count; i++) {
        most = experts->ops[i].count > most ? experts->ops[i].count : most;
    }
    return most;
}

// Slots of experts in what the others leave, of which those of one op have to have room.
static tapml_status make_expert_slots(struct pass *pass, uint64_t memory)
{
    const struct ring_plan *plan = &pass->ring->plan;
    struct ring_experts_plan *experts = &pass->ring->experts;
    const uint64_t used = plan->staying_bytes + plan->slots * plan->slot_bytes;
    const uint64_t slots = memory > used ? (memory - used) / experts->unit_bytes : 0;
    if (slots < most_units(experts)) {
        return status_fail(TAPML_NO_MEMORY,
                           "the ring of %s has room for %llu experts of %llu bytes, and an op has "
                           "%u: its memory is %llu",
                           pass->given->spaces->places[pass->place].name, (unsigned long long)slots,
                           (unsigned long long)experts->unit_bytes, most_units(experts),
                           (unsigned long long)memory);
    }
    experts->slots = slots < experts->unit_count ? (uint32_t)slots : experts->unit_count;
    return TAPML_OK;
}

// Both kinds of weights get their part of the memory; where that is too little for others than
// experts, all that the experts of one op leave.
static tapml_status share_memory(struct pass *pass)
{
    struct ring_settings settings = settings_of(pass);
    const struct ring_experts_plan *experts = &pass->ring->experts;
    const uint64_t others = weights_bytes(pass), all = others + experts->weights_bytes;
    const uint64_t memory = memory_of(&settings, all);
    if (experts->op_count == 0) {
        return make_plan(pass, &settings);
    }
    const uint64_t least = most_units(experts) * experts->unit_bytes;
    settings.amount = RING_BYTES;
    settings.bytes = (uint64_t)((double)memory * (double)others / (double)all);
    if (make_plan(pass, &settings) != TAPML_OK) {
        settings.bytes = memory > least ? memory - least : 0;
        TAPML_TRY(make_plan(pass, &settings));
    }
    return make_expert_slots(pass, memory);
}

// Whether all weights have room, so that no expert has to be chosen first. On host memory those
// that lie in no file need none.
static int has_room_for_all(const struct pass *pass)
{
    const struct ring_settings settings = settings_of(pass);
    const struct ring_experts_plan *experts = &pass->ring->experts;
    const uint64_t all = weights_bytes(pass) + experts->weights_bytes;
    return memory_of(&settings, all) >= all || experts->weights_bytes == 0;
}

static void forget_all(struct pass *pass)
{
    struct ring_experts_plan *experts = &pass->ring->experts;
    memset(pass->numbers, 0xff, pass->program->resident_count * sizeof(*pass->numbers)); // NONE
    experts->op_count = experts->unit_count = experts->resident_count = 0;
    experts->unit_bytes = experts->weights_bytes = 0;
    pass->ring->weight_count = pass->use_count = pass->op_count = 0;
}

static tapml_status run(struct pass *pass)
{
    const tapml_status status = note_all(pass, 1);
    if (status == TAPML_UNIMPLEMENTED || (status == TAPML_OK && has_room_for_all(pass))) {
        forget_all(pass);
        TAPML_TRY(note_all(pass, 0));
    } else {
        TAPML_TRY(status);
    }
    TAPML_TRY(share_memory(pass));
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
        struct ring_experts_plan *experts = &pass.ring->experts;
        pass.ring->weights = alloc_array(resident_count + 1, sizeof(struct resident *));
        experts->residents = alloc_array(resident_count + 1, sizeof(struct resident *));
        experts->first = alloc_array(resident_count + 1, sizeof(*experts->first));
        experts->ops = alloc_array(step_count + 1, sizeof(*experts->ops));
    }
    tapml_status status = status_no_memory();
    if (pass.ring && pass.ring->weights && pass.ring->experts.residents &&
        pass.ring->experts.first && pass.ring->experts.ops && pass.numbers && pass.weight_bytes &&
        pass.ends && pass.steps) {
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
