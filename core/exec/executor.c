// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "exec/executor.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/sentence.h"
#include "base/timeline.h"
#include "exec/aftermath.h"
#include "exec/allowance.h"
#include "exec/ring.h"
#include "exec/transfer.h"
#include "schema/infer.h"

#include <stdio.h>

struct executor {
    struct executor_options given;
    struct affine_point point;  // Of this call.
    struct inferred inferred;   // Of the op at hand.
    struct space_point *points; // Of this run.
    size_t point_capacity;
    uint64_t serial;  // Of bindings: counted up where another program runs or a weight comes.
    uint64_t running; // The serial of the program that ran last.
    uint64_t adopted; // Programs so far.
    uint64_t changes; // Of the weights of all places: a buffer may be another one since.
    struct allowance *allowance;
    struct aftermath *aftermath;
    const struct program *program; // That ran last.
    uint32_t failed_op;            // Whose call failed last; GRAPH_NONE: no call has.
    uint64_t *calls;               // For each op, one for each place.
    uint64_t *times_ns;            // The same.
    int32_t *indices;              // Of an op with experts, on their way.
    uint64_t index_capacity;
};

tapml_status executor_create(const struct executor_options *options, struct executor **out_executor)
{
    const size_t count = (size_t)options->graph->op_count * options->spaces->place_count;
    struct executor *executor = alloc_new(sizeof(*executor));
    if (!executor) {
        return status_no_memory();
    }
    executor->given = *options;
    executor->calls = alloc_array(count, sizeof(*executor->calls));
    executor->times_ns = alloc_array(count, sizeof(*executor->times_ns));
    const struct aftermath_options aftermath = {
        .graph = options->graph, .spaces = options->spaces, .bindings = options->bindings};
    const struct allowance_options allowance = {.graph = options->graph,
                                                .spaces = options->spaces,
                                                .values = options->values,
                                                .bindings = options->bindings};
    if (!executor->calls || !executor->times_ns ||
        aftermath_create(&aftermath, &executor->aftermath) != TAPML_OK ||
        allowance_create(&allowance, &executor->allowance) != TAPML_OK) {
        executor_destroy(executor);
        return status_no_memory();
    }
    *out_executor = executor;
    return TAPML_OK;
}

void executor_destroy(struct executor *executor)
{
    if (!executor) {
        return;
    }
    allowance_destroy(executor->allowance);
    aftermath_destroy(executor->aftermath);
    alloc_free(executor->points);
    alloc_free(executor->indices);
    alloc_free(executor->calls);
    alloc_free(executor->times_ns);
    alloc_free(executor);
}

tapml_status executor_adopt(struct executor *executor, struct program *program)
{
    TAPML_TRY(allowance_check(executor->allowance, program));
    program->serial = ++executor->adopted;
    if (program->point_count <= executor->point_capacity) {
        return TAPML_OK;
    }
    struct space_point *points = alloc_array(program->point_count, sizeof(*points));
    if (!points) {
        return status_no_memory();
    }
    alloc_free(executor->points);
    executor->points = points;
    executor->point_capacity = program->point_count;
    return TAPML_OK;
}

// -- Calls -------------------------------------------------------------------------------------

static uint32_t base_of(const struct binding *binding, uint32_t index)
{
    return binding->graph->values[binding->tensors[index].value].base;
}

// What does not change with the position stays bound while one program runs again and again.
static tapml_status bind(struct executor *executor, struct binding *binding, uint8_t place)
{
    struct value_set *values = executor->given.values;
    if (binding->bound == executor->serial && !binding->has_position) {
        return TAPML_OK;
    }
    binding_evaluate(binding, &executor->point);
    binding_set_activation(binding, value_marks(values),
                           executor->given.spaces->places[place].activation);
    for (uint32_t i = 0; i < binding->tensor_count; i++) {
        if (binding_is_weight(binding, i)) {
            const struct resident *resident = binding->tensors[i].resident[place];
            ASSERT(resident && resident->tensor);
            binding_set_weight(binding, i, resident->tensor);
        } else {
            tapml_object *buffer = NULL;
            TAPML_TRY(value_buffer(values, base_of(binding, i), place, &buffer));
            binding_set_buffer(binding, i, buffer);
        }
    }
    binding->bound = executor->serial;
    return TAPML_OK;
}

// Before host memory is overwritten: no device reads it any more.
static tapml_status claim(struct executor *executor, const struct binding *binding, uint8_t place)
{
    const struct space_set *spaces = executor->given.spaces;
    if (spaces->place_count == 1 || spaces->places[place].space != SPACE_HOST) {
        return TAPML_OK;
    }
    for (uint32_t i = 0; i < binding->tensor_count; i++) {
        if (!binding_is_weight(binding, i) && binding_access(binding, i) != BINDING_READS) {
            TAPML_TRY(value_claim(executor->given.values, base_of(binding, i)));
        }
    }
    return TAPML_OK;
}

// Notes which rows of states the call wrote.
static void note_rows(struct executor *executor, const struct binding *binding, uint8_t place)
{
    for (uint32_t i = 0; i < binding->tensor_count; i++) {
        const uint32_t base = base_of(binding, i);
        if (binding->graph->values[base].kind == GRAPH_STATE &&
            binding_access(binding, i) != BINDING_READS) {
            const struct infer_region *rows =
                &executor->inferred.regions[binding->tensors[i].param];
            value_note_rows(executor->given.values, base, place, (uint64_t)rows->begin,
                            (uint64_t)rows->end);
        }
    }
}

// A weight that comes anew may lie elsewhere: all is bound again.
static tapml_status load(struct executor *executor, struct resident *resident, uint8_t place)
{
    struct space_set *spaces = executor->given.spaces;
    if (resident->tensor) {
        return TAPML_OK;
    }
    executor->serial++;
    return space_explain(spaces, place, residency_load(spaces->places[place].weights, resident));
}

// The weights of an op that had to make room for others.
static tapml_status load_weights(struct executor *executor, struct binding *binding, uint8_t place)
{
    for (uint32_t i = 0; i < binding->tensor_count; i++) {
        if (binding_is_weight(binding, i)) {
            TAPML_TRY(load(executor, binding->tensors[i].resident[place], place));
        }
    }
    return TAPML_OK;
}

static tapml_status call_op(struct executor *executor, uint32_t op, uint8_t place)
{
    struct space_set *spaces = executor->given.spaces;
    struct binding *binding = &executor->given.bindings[op];
    if (spaces->places[place].budget_bytes > 0) {
        TAPML_TRY(load_weights(executor, binding, place));
    }
    TAPML_TRY(bind(executor, binding, place));
    TAPML_TRY(claim(executor, binding, place));
    TAPML_TRY(space_flush_others(spaces, place));
    const struct backend_call call = {
        .op = binding->op->op,
        .args = binding->args,
        .inferred = &executor->inferred,
        .instance = binding->op->instance,
        .origins = binding->origins,
    };
    const uint64_t before_ns = clock_now_ns();
    tapml_status status = infer_call(binding->op->schema, binding->args, &executor->inferred);
    if (status == TAPML_OK) {
        status = backend_call(spaces->places[place].backend, &call);
    }
    if (status != TAPML_OK) {
        spaces->failed = place;
        executor->failed_op = op;
        return status;
    }
    const size_t counter = (size_t)op * spaces->place_count + place;
    executor->times_ns[counter] += clock_now_ns() - before_ns;
    executor->calls[counter]++;
    space_note_call(spaces, place);
    note_rows(executor, binding, place);
    return TAPML_OK;
}

// -- Steps -------------------------------------------------------------------------------------

static tapml_status
call(struct executor *executor, const struct program *program, const struct step *step)
{
    TAPML_TRY(space_enter(executor->given.spaces, step->place));
    for (uint32_t i = 0; i < step->count; i++) {
        TAPML_TRY(call_op(executor, program->nodes[step->index + i], step->place));
    }
    return TAPML_OK;
}

static tapml_status move(struct executor *executor, const struct step *step)
{
    struct value_set *values = executor->given.values;
    TAPML_TRY(space_enter(executor->given.spaces,
                          step->place == SPACE_NO_PLACE ? step->from : step->place));
    if (executor->given.graph->values[step->index].kind == GRAPH_STATE) {
        return value_update_state(values, step->index, step->place);
    }
    return step->place == SPACE_NO_PLACE ? value_receive(values, step->index, step->from)
                                         : value_send(values, step->index, step->place);
}

static tapml_status cast(struct executor *executor, const struct step *step)
{
    TAPML_TRY(space_enter(executor->given.spaces, SPACE_NO_PLACE));
    const int is_back = executor->given.graph->values[step->index].dtype == step->dtype;
    return (is_back ? value_cast_back : value_cast)(executor->given.values, step->index,
                                                    step->place);
}

static tapml_status wait(struct executor *executor, const struct step *step)
{
    struct space_set *spaces = executor->given.spaces;
    struct space_point *point = &executor->points[step->index];
    TAPML_TRY(space_flush_others(spaces, step->from)); // They work while the host waits.
    if (step->place == SPACE_NO_PLACE) {
        return space_wait_for(spaces, step->from, point);
    }
    return space_follow(spaces, step->place, step->from, point);
}

// Where there is a budget, and no room yet, the call itself loads it.
static tapml_status upload(struct executor *executor, struct resident *resident, uint8_t place)
{
    return resident->tensor || !allowance_has_room(executor->allowance, place, resident)
               ? TAPML_OK
               : load(executor, resident, place);
}

static tapml_status release(struct executor *executor, struct resident *resident, uint8_t place)
{
    struct space_set *spaces = executor->given.spaces;
    return space_explain(spaces, place, residency_release(spaces->places[place].weights, resident));
}

// What is bound to weights of the section before is bound anew.
static tapml_status turn(struct executor *executor, const struct step *step)
{
    struct space_set *spaces = executor->given.spaces;
    TAPML_TRY(space_enter(spaces, step->place));
    executor->serial++;
    return space_explain(spaces, step->place,
                         ring_turn(spaces->places[step->place].ring, step->index));
}

// The indices that an op with experts will get, from its place.
static tapml_status read_indices(struct executor *executor,
                                 const struct ring_experts_op *op,
                                 uint8_t place,
                                 uint64_t *out_count)
{
    struct space_set *spaces = executor->given.spaces;
    struct binding *binding = &executor->given.bindings[op->op];
    binding_evaluate(binding, &executor->point);
    const struct binding_tensor *tensor = &binding->tensors[op->tensor];
    tapml_object *buffer = NULL;
    uint64_t count = 1;
    for (uint32_t i = 0; i < tensor->tensor.rank; i++) {
        count *= (uint64_t)tensor->shape[i];
    }
    if (count > executor->index_capacity) {
        int32_t *indices = alloc_array(count + TAPML_TRANSFER_GRAIN, sizeof(*indices));
        if (!indices) {
            return status_no_memory();
        }
        alloc_free(executor->indices);
        executor->indices = indices;
        executor->index_capacity = count;
    }
    TAPML_TRY(value_buffer(executor->given.values, base_of(binding, op->tensor), place, &buffer));
    TAPML_TRY(
        space_explain(spaces, place,
                      transfer_from(spaces->places[place].backend, buffer, tensor->view_offset,
                                    executor->indices, count * sizeof(*executor->indices))));
    *out_count = count;
    return space_wait(spaces, place);
}

static tapml_status
route(struct executor *executor, const struct program *program, const struct step *step)
{
    struct space_set *spaces = executor->given.spaces;
    uint64_t count = 0;
    TAPML_TRY(space_enter(spaces, step->place));
    TAPML_TRY(space_flush_others(spaces, step->place)); // They work while the host waits.
    TAPML_TRY(read_indices(executor, &program->rings[step->place]->experts.ops[step->index],
                           step->place, &count));
    executor->serial++;
    return space_explain(
        spaces, step->place,
        ring_route(spaces->places[step->place].ring, step->index, executor->indices, count));
}

// Holds the budget of the place of a step.
static tapml_status admit(struct executor *executor, uint32_t index)
{
    int is_freed = 0;
    const tapml_status status =
        allowance_admit(executor->allowance, executor->program, index, &is_freed);
    executor->serial += (uint64_t)is_freed;
    return status;
}

static tapml_status
run_step(struct executor *executor, const struct program *program, const struct step *step)
{
    switch (step->kind) {
    case STEP_UPLOAD:
        return upload(executor, program->residents[step->index], step->place);
    case STEP_MOVE:
        return move(executor, step);
    case STEP_CAST:
        return cast(executor, step);
    case STEP_CALL:
        return call(executor, program, step);
    case STEP_RELEASE:
        return release(executor, program->residents[step->index], step->place);
    case STEP_TURN:
        return turn(executor, step);
    case STEP_ROUTE:
        return route(executor, program, step);
    case STEP_SIGNAL:
        return space_signal(executor->given.spaces, step->place, &executor->points[step->index]);
    case STEP_WAIT:
        return wait(executor, step);
    }
    return TAPML_OK;
}

static const char *name_of(const struct executor *executor, uint8_t place)
{
    return place == SPACE_NO_PLACE ? "host" : executor->given.spaces->places[place].name;
}

// Puts a step that has begun at `begin_ns` on the timeline of the thread.
static void draw_step(const struct executor *executor,
                      const struct program *program,
                      const struct step *step,
                      uint64_t begin_ns)
{
    static const char *const words[] = {
        [STEP_UPLOAD] = "upload to", [STEP_MOVE] = "move to",       [STEP_CAST] = "cast for",
        [STEP_CALL] = "call on",     [STEP_RELEASE] = "release on", [STEP_SIGNAL] = "signal on",
        [STEP_WAIT] = "wait for",    [STEP_TURN] = "turn on",       [STEP_ROUTE] = "route on"};
    const int is_value = step->kind == STEP_MOVE || step->kind == STEP_CAST;
    const int is_weight = step->kind == STEP_UPLOAD || step->kind == STEP_RELEASE;
    const uint8_t place = step->kind == STEP_WAIT ? step->from : step->place;
    char name[TIMELINE_NAME];
    (void)snprintf(name, sizeof(name), "%s %s", words[step->kind], name_of(executor, place));
    timeline_end(
        timeline_mine(), begin_ns,
        &(struct timeline_span){.kind = "step",
                                .name = name,
                                .detail = is_value ? executor->given.graph->values[step->index].name
                                          : is_weight ? program->residents[step->index]->key.tensor
                                                      : NULL});
}

// What depends on the position alone is bound anew at each call.
static int has_same_shapes(const struct affine_point *left, const struct affine_point *right)
{
    return left->value[AFFINE_TOKENS] == right->value[AFFINE_TOKENS] &&
           left->value[AFFINE_ROWS] == right->value[AFFINE_ROWS] &&
           left->value[AFFINE_CAPACITY] == right->value[AFFINE_CAPACITY];
}

// -- Weights -----------------------------------------------------------------------------------

// Behind a failure: what was queued behind it has perhaps not come to a device.
static void distrust(const struct executor *executor)
{
    for (uint32_t i = 0; i < executor->given.spaces->place_count; i++) {
        const struct space_place *place = &executor->given.spaces->places[i];
        if (place->weights) {
            residency_distrust(place->weights);
        }
        if (place->ring) {
            ring_distrust(place->ring);
        }
    }
}

static tapml_status begin_rings(struct executor *executor, const struct program *program)
{
    for (uint32_t i = 0; i < executor->given.spaces->place_count; i++) {
        if (program->rings[i]) {
            TAPML_TRY(space_explain(
                executor->given.spaces, i,
                ring_begin(executor->given.spaces->places[i].ring, program->rings[i])));
        }
    }
    return TAPML_OK;
}

static tapml_status end_rings(struct executor *executor, const struct program *program)
{
    for (uint32_t i = 0; i < executor->given.spaces->place_count; i++) {
        if (program->rings[i]) {
            TAPML_TRY(space_explain(executor->given.spaces, i,
                                    ring_end(executor->given.spaces->places[i].ring)));
        }
    }
    return TAPML_OK;
}

// -- Failures ----------------------------------------------------------------------------------

// Whether the run goes on with what does not depend on a failure.
static int goes_on(tapml_status status)
{
    return !status_ends_all(status) || status == TAPML_DEVICE_LOST;
}

// Waits for what a place has in its queue in front of a call that failed at once: what was moved
// from there has arrived then, and a failure in it comes first, in the place of `*io_status`.
static void
finish_queued(struct executor *executor, uint32_t place, tapml_status *io_status, uint32_t *io_op)
{
    char message[SENTENCE_BYTES];
    (void)snprintf(message, sizeof(message), "%s", status_message());
    const tapml_status earlier = space_wait(executor->given.spaces, place);
    if (earlier == TAPML_OK || (earlier == *io_status && earlier == TAPML_DEVICE_LOST)) {
        (void)status_fail(*io_status, "%s", message); // A plugin may have left another one.
    } else {
        *io_status = earlier;
        *io_op = GRAPH_NONE;
    }
}

// Notes a failure in front of which `queued` steps are; 0 if there is nothing to go on with.
static int note_failure(struct executor *executor, uint32_t queued, tapml_status *io_status)
{
    struct space_set *spaces = executor->given.spaces;
    const uint32_t place = spaces->failed;
    uint32_t op = executor->failed_op;
    executor->failed_op = GRAPH_NONE;
    if (goes_on(*io_status) && place != SPACE_NO_PLACE && spaces->places[place].is_busy) {
        finish_queued(executor, place, io_status, &op);
    }
    spaces->failed = SPACE_NO_PLACE;
    return goes_on(*io_status) && place != SPACE_NO_PLACE &&
           aftermath_note(executor->aftermath, executor->program, queued, place, op, *io_status);
}

// Waits for all places behind a failure, which may be the last of several; `queued` as above. Fails
// where nothing goes on.
static tapml_status drain(struct executor *executor, uint32_t queued)
{
    struct space_set *spaces = executor->given.spaces;
    for (uint32_t i = 0; i < spaces->place_count; i++) {
        tapml_status status = spaces->places[i].is_busy ? space_wait(spaces, i) : TAPML_OK;
        if (status != TAPML_OK && !goes_on(status)) {
            return status;
        }
        if (status != TAPML_OK) {
            (void)note_failure(executor, queued, &status);
        }
    }
    return TAPML_OK;
}

// Gives the first failure.
static tapml_status settle(struct executor *executor)
{
    TAPML_TRY(drain(executor, executor->program->step_count));
    return aftermath_status(executor->aftermath);
}

tapml_status executor_settle(struct executor *executor, tapml_status status)
{
    distrust(executor);
    if (executor->program && note_failure(executor, executor->program->step_count, &status)) {
        return settle(executor);
    }
    executor->given.spaces->failed = SPACE_NO_PLACE;
    return status;
}

uint32_t executor_failed_op(const struct executor *executor)
{
    return aftermath_op(executor->aftermath);
}

void executor_forget(struct executor *executor)
{
    executor->program = NULL;
    for (uint32_t i = 0; i < executor->given.spaces->place_count; i++) {
        if (executor->given.spaces->places[i].ring) {
            ring_forget(executor->given.spaces->places[i].ring);
        }
    }
}

int executor_is_poisoned(const struct executor *executor, uint32_t value, uint32_t place)
{
    return aftermath_is_poisoned(executor->aftermath, value, place);
}

// Runs a step, unless something that it needs has failed. A failure that was only heard of here
// does not keep the step from its turn. Behind a failure each step is waited for: who would have
// waited for it, and lets others use its memory, may be left out.
static tapml_status take_step(struct executor *executor, uint32_t index)
{
    const struct program *program = executor->program;
    int is_done = 0;
    while (!is_done) {
        if (aftermath_any(executor->aftermath) &&
            aftermath_skip(executor->aftermath, program, index)) {
            return TAPML_OK;
        }
        tapml_status status = admit(executor, index);
        status = status == TAPML_OK ? run_step(executor, program, &program->steps[index]) : status;
        is_done = status == TAPML_OK;
        if (!is_done && !note_failure(executor, index, &status)) {
            return status;
        }
        if (aftermath_any(executor->aftermath)) {
            TAPML_TRY(drain(executor, is_done ? index + 1 : index));
        }
    }
    return TAPML_OK;
}

// What the weights of all places have seen.
static uint64_t count_changes(const struct space_set *spaces)
{
    uint64_t changes = 0;
    for (uint32_t i = 0; i < spaces->place_count; i++) {
        const struct residency *weights = spaces->places[i].weights;
        changes += weights ? residency_changes(weights) : 0;
    }
    return changes;
}

static tapml_status
run_all(struct executor *executor, const struct program *program, const struct affine_point *point)
{
    ASSERT(program->serial > 0 && program->point_count <= executor->point_capacity);
    // Bindings are those of another program, or of another shape.
    if (executor->running != program->serial || !has_same_shapes(&executor->point, point)) {
        executor->running = program->serial;
        executor->serial++;
    }
    TAPML_TRY(begin_rings(executor, program));
    // Another session may have released weights, or loaded them again.
    const uint64_t changes = count_changes(executor->given.spaces);
    if (executor->changes != changes) {
        executor->changes = changes;
        executor->serial++;
    }
    executor->point = *point;
    executor->program = program;
    executor->failed_op = GRAPH_NONE;
    executor->given.spaces->failed = SPACE_NO_PLACE;
    aftermath_begin(executor->aftermath);
    const struct timeline_track *track = timeline_mine();
    for (uint32_t i = 0; i < program->step_count; i++) {
        const uint64_t begin_ns = timeline_begin(track);
        const tapml_status status = take_step(executor, i);
        if (status != TAPML_OK) {
            return aftermath_any(executor->aftermath) && goes_on(status) ? settle(executor)
                                                                         : status;
        }
        if (track) {
            draw_step(executor, program, &program->steps[i], begin_ns);
        }
    }
    value_set_end_call(executor->given.values, program->valid, program->arrives);
    executor->changes = count_changes(executor->given.spaces);
    return aftermath_any(executor->aftermath) ? settle(executor) : end_rings(executor, program);
}

tapml_status executor_run(struct executor *executor,
                          const struct program *program,
                          const struct affine_point *point)
{
    const tapml_status status = run_all(executor, program, point);
    if (status != TAPML_OK) {
        distrust(executor);
    }
    return status;
}

static size_t counter_of(const struct executor *executor, uint32_t op, uint32_t place)
{
    ASSERT(op < executor->given.graph->op_count && place < executor->given.spaces->place_count);
    return (size_t)op * executor->given.spaces->place_count + place;
}

uint64_t executor_calls(const struct executor *executor, uint32_t op, uint32_t place)
{
    return executor->calls[counter_of(executor, op, place)];
}

uint64_t executor_time_ns(const struct executor *executor, uint32_t op, uint32_t place)
{
    return executor->times_ns[counter_of(executor, op, place)];
}
