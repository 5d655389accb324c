// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "exec/executor.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/timeline.h"
#include "schema/infer.h"

#include <stdio.h>

enum follows { FOLLOWS_UNKNOWN, FOLLOWS_YES, FOLLOWS_NO };

struct executor {
    struct executor_options given;
    struct affine_point point;  // Of this call.
    struct inferred inferred;   // Of the op at hand.
    struct space_point *points; // Of this run.
    size_t point_capacity;
    uint64_t serial;  // Of bindings: counted up where another program runs or a weight comes.
    uint64_t running; // The serial of the program that ran last.
    uint64_t adopted; // Programs so far.

    // Whether the queue of a place waits for points of another one.
    uint8_t follows[SPACE_PLACES_MAX][SPACE_PLACES_MAX];
    uint64_t *calls;    // For each op, one for each place.
    uint64_t *times_ns; // The same.
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
    if (!executor->calls || !executor->times_ns) {
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
    alloc_free(executor->points);
    alloc_free(executor->calls);
    alloc_free(executor->times_ns);
    alloc_free(executor);
}

tapml_status executor_adopt(struct executor *executor, struct program *program)
{
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

static tapml_status call_op(struct executor *executor, uint32_t op, uint8_t place)
{
    struct space_set *spaces = executor->given.spaces;
    struct binding *binding = &executor->given.bindings[op];
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
        return status_explain(status, "%s (%s) on %s", binding->op->instance, binding->op->op->name,
                              spaces->places[place].name);
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
    if (executor->given.graph->values[step->index].kind == GRAPH_STATE) {
        return value_update_state(values, step->index, step->place);
    }
    return step->place == SPACE_NO_PLACE ? value_receive(values, step->index, step->from)
                                         : value_send(values, step->index, step->place);
}

static tapml_status cast(struct executor *executor, const struct step *step)
{
    const int is_back = executor->given.graph->values[step->index].dtype == step->dtype;
    return (is_back ? value_cast_back : value_cast)(executor->given.values, step->index,
                                                    step->place);
}

static tapml_status wait(struct executor *executor, const struct step *step)
{
    struct space_set *spaces = executor->given.spaces;
    struct space_point *point = &executor->points[step->index];
    if (step->place == SPACE_NO_PLACE) {
        return space_wait_for(spaces, step->from, point);
    }
    uint8_t *follows = &executor->follows[step->place][step->from];
    if (*follows != FOLLOWS_NO) {
        const tapml_status status = space_follow(spaces, step->place, step->from, point);
        *follows = status == TAPML_UNIMPLEMENTED ? FOLLOWS_NO : FOLLOWS_YES;
        if (*follows == FOLLOWS_YES) {
            return status;
        }
    }
    return space_wait_for(spaces, step->from, point);
}

// A weight that comes anew may lie elsewhere: all is bound again.
static tapml_status upload(struct executor *executor, struct resident *resident, uint8_t place)
{
    if (resident->tensor) {
        return TAPML_OK;
    }
    executor->serial++;
    return residency_load(executor->given.spaces->places[place].weights, resident);
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
        return residency_release(executor->given.spaces->places[step->place].weights,
                                 program->residents[step->index]);
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
        [STEP_WAIT] = "wait for"};
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

tapml_status executor_run(struct executor *executor,
                          const struct program *program,
                          const struct affine_point *point)
{
    ASSERT(program->serial > 0 && program->point_count <= executor->point_capacity);
    // Bindings are those of another program, or of another shape.
    if (executor->running != program->serial || !has_same_shapes(&executor->point, point)) {
        executor->running = program->serial;
        executor->serial++;
    }
    executor->point = *point;
    const struct timeline_track *track = timeline_mine();
    for (uint32_t i = 0; i < program->step_count; i++) {
        const uint64_t begin_ns = timeline_begin(track);
        TAPML_TRY(run_step(executor, program, &program->steps[i]));
        if (track) {
            draw_step(executor, program, &program->steps[i], begin_ns);
        }
    }
    value_set_end_call(executor->given.values, program->valid);
    return TAPML_OK;
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
