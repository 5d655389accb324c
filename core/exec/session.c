// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "exec/session.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/assert.h"
#include "base/timeline.h"
#include "exec/binding.h"
#include "exec/compile.h"
#include "exec/executor.h"
#include "exec/input.h"
#include "exec/output.h"
#include "exec/residency.h"
#include "exec/schedule.h"
#include "exec/session_weights.h"
#include "exec/step_count.h"
#include "exec/value.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CAPACITY_MAX = INT32_MAX / 2 }; // Positions are i32 in graphs.

// A program, and the place of each op in it: calls with the same places share it.
struct session_program {
    struct program *program;
    uint8_t *places;
};

struct session {
    struct model *model;
    const struct graph *graph;
    struct space_set spaces;
    int64_t capacity;
    int64_t chunk;

    struct arena *arena; // Of the bindings.
    struct binding *bindings;
    struct session_weights weights;
    struct value_set *values;
    struct input_set *inputs;
    struct output_set *outputs;
    struct schedule *schedule;
    struct executor *executor;
    struct session_program *programs; // Of the plan with the number here.
    size_t program_count, program_capacity;
    uint64_t plan_number;
    int releases_weights;

    int64_t position;
    int64_t length; // Announced, of the prompt.
    struct affine_point point;
    int has_step;  // Outputs are those of a step.
    int is_broken; // An op failed: states are half written.
};

static tapml_status check_options(const struct session_options *options)
{
    if (options->place_count == 0 || options->place_count > SESSION_PLACES_MAX) {
        return status_fail(TAPML_INVALID, "expected 1 to %d places, found %u", SESSION_PLACES_MAX,
                           options->place_count);
    }
    if (options->capacity < 1 || options->capacity > CAPACITY_MAX) {
        return status_fail(TAPML_INVALID, "expected a capacity of 1 .. %d, found %lld",
                           CAPACITY_MAX, (long long)options->capacity);
    }
    if (options->chunk < 1 || options->chunk > options->capacity) {
        return status_fail(TAPML_INVALID,
                           "expected a chunk of 1 .. %lld, which is the capacity, found %lld",
                           (long long)options->capacity, (long long)options->chunk);
    }
    return TAPML_OK;
}

// What a session can run: weights are there, and as the checkpoint has them.
static tapml_status check_graph(const struct graph *graph)
{
    for (uint32_t v = 0; v < graph->value_count; v++) {
        const struct graph_value *value = &graph->values[v];
        if (value->kind != GRAPH_WEIGHT) {
            continue;
        }
        if (!value->data) {
            return status_fail(TAPML_PRECONDITION, "weight '%s' has no numbers", value->name);
        }
        if (value->fold) {
            return status_fail(TAPML_UNIMPLEMENTED, "weight '%s' asks for the fold '%s'",
                               value->name, value->fold);
        }
    }
    return TAPML_OK;
}

static tapml_status make_bindings(struct session *session)
{
    session->arena = arena_create();
    if (!session->arena) {
        return status_no_memory();
    }
    session->bindings =
        arena_array(session->arena, session->graph->op_count, sizeof(*session->bindings));
    if (!session->bindings) {
        return status_no_memory();
    }
    for (uint32_t i = 0; i < session->graph->op_count; i++) {
        TAPML_TRY(binding_init(&session->bindings[i], session->graph, i, session->arena));
    }
    return TAPML_OK;
}

// Of every call.
static struct affine_point largest_point(const struct session *session)
{
    return (struct affine_point){
        .value[AFFINE_TOKENS] = session->chunk,
        .value[AFFINE_POSITION] = session->capacity - 1,
        .value[AFFINE_ROWS] = session->chunk,
        .value[AFFINE_CAPACITY] = session->capacity,
    };
}

static tapml_status make_values(struct session *session)
{
    const struct affine_point largest = largest_point(session);
    TAPML_TRY(value_set_create(session->graph, &session->spaces, &largest, &session->values));
    TAPML_TRY(input_set_create(session->graph, session->model, session->values, session->bindings,
                               &session->inputs));
    return output_set_create(session->graph, session->values, &session->outputs);
}

static tapml_status make_schedule(struct session *session, const struct plan *plan)
{
    const struct schedule_options options = {
        .graph = session->graph,
        .spaces = &session->spaces,
        .values = session->values,
        .bindings = session->bindings,
    };
    TAPML_TRY(schedule_create(&options, &session->schedule));
    return schedule_set_plan(session->schedule, plan);
}

static tapml_status make_executor(struct session *session)
{
    const struct executor_options options = {
        .graph = session->graph,
        .spaces = &session->spaces,
        .values = session->values,
        .bindings = session->bindings,
    };
    return executor_create(&options, &session->executor);
}

static tapml_status make_parts(struct session *session, const struct session_options *options)
{
    TAPML_TRY(check_graph(session->graph));
    TAPML_TRY(make_bindings(session));
    TAPML_TRY(session_weights_open(&session->weights, &session->spaces, options->places,
                                   model_checkpoint(session->model)));
    TAPML_TRY(make_values(session));
    TAPML_TRY(make_executor(session));
    return make_schedule(session, options->plan);
}

tapml_status session_create(const struct session_options *options, struct session **out_session)
{
    TAPML_TRY(check_options(options));
    struct session *session = alloc_new(sizeof(*session));
    if (!session) {
        return status_no_memory();
    }
    session->model = options->model;
    session->graph = model_graph(options->model);
    session->capacity = options->capacity;
    session->chunk = options->chunk;
    session->releases_weights = options->releases_weights;
    space_set_init(&session->spaces, options->places, options->place_count);
    const tapml_status status = make_parts(session, options);
    if (status != TAPML_OK) {
        session_destroy(session);
        return status == TAPML_NO_MEMORY
                   ? status_explain(status, "a session of capacity %lld and chunks of %lld tokens",
                                    (long long)options->capacity, (long long)options->chunk)
                   : status;
    }
    *out_session = session;
    return TAPML_OK;
}

static void forget_programs(struct session *session)
{
    if (session->executor) {
        executor_forget(session->executor);
    }
    while (session->program_count > 0) {
        const struct session_program *last = &session->programs[--session->program_count];
        program_destroy(last->program);
        alloc_free(last->places);
    }
}

void session_destroy(struct session *session)
{
    if (!session) {
        return;
    }
    // Pending work still reads the memory freed below; a lost device has none.
    (void)space_wait_all(&session->spaces);
    schedule_destroy(session->schedule);
    output_set_destroy(session->outputs);
    input_set_destroy(session->inputs);
    value_set_destroy(session->values);
    space_set_release(&session->spaces);
    forget_programs(session);
    session_weights_close(&session->weights);
    alloc_free(session->programs);
    executor_destroy(session->executor);
    arena_destroy(session->arena);
    alloc_free(session);
}

tapml_status session_set_plan(struct session *session, const struct plan *plan)
{
    return schedule_set_plan(session->schedule, plan);
}

// The result of something that waits: what the last step has queued may have failed.
static tapml_status settled(struct session *session, tapml_status status)
{
    if (status == TAPML_OK || session->spaces.failed == SPACE_NO_PLACE) {
        return status;
    }
    session->is_broken = 1;
    session->has_step = 0;
    return executor_settle(session->executor, status);
}

tapml_status session_begin(struct session *session, int64_t length)
{
    if (length < 0 || length > session->capacity) {
        return status_fail(TAPML_INVALID, "a prompt of %lld tokens exceeds the capacity %lld",
                           (long long)length, (long long)session->capacity);
    }
    TAPML_TRY(settled(session, space_wait_all(&session->spaces)));
    for (uint32_t i = 0; i < session->spaces.place_count; i++) {
        residency_settle(session->spaces.places[i].weights);
        TAPML_TRY(residency_refresh(session->spaces.places[i].weights));
    }
    value_set_begin(session->values);
    session->position = 0;
    session->length = length;
    session->has_step = 0;
    session->is_broken = 0;
    return TAPML_OK;
}

tapml_status
session_set_input(struct session *session, const char *name, const void *data, uint64_t bytes)
{
    return input_give(session->inputs, name, data, bytes);
}

// The rows of a part among what is given, or none.
static tapml_status
give_rows(struct session *session, uint32_t index, const struct prompt_givens *given)
{
    const struct graph_part *part = &session->graph->parts[index];
    const uint64_t row_bytes = (uint64_t)part->width * sizeof(float);
    for (size_t i = 0; i < given->count; i++) {
        const struct prompt_given *item = &given->items[i];
        if (strcmp(item->name, part->output) == 0) {
            return input_give_rows(session->inputs, index, item->data,
                                   (int64_t)(item->bytes / row_bytes));
        }
    }
    return input_give_rows(session->inputs, index, NULL, 0);
}

static int is_of_part(const struct graph *graph, const char *name)
{
    for (uint32_t i = 0; i < graph->part_count; i++) {
        if (strcmp(graph->parts[i].output, name) == 0) {
            return 1;
        }
    }
    return 0;
}

tapml_status session_give(struct session *session, const struct prompt_givens *given)
{
    for (uint32_t i = 0; i < session->graph->part_count; i++) {
        TAPML_TRY(give_rows(session, i, given));
    }
    for (size_t i = 0; i < given->count; i++) {
        const struct prompt_given *item = &given->items[i];
        if (!is_of_part(session->graph, item->name)) {
            TAPML_TRY(session_set_input(session, item->name, item->data, item->bytes));
        }
    }
    return TAPML_OK;
}

static tapml_status refuse_broken(void)
{
    return status_fail(TAPML_PRECONDITION, "the last step failed: begin a new sequence");
}

static tapml_status check_step(const struct session *session, int64_t count, int64_t row_count)
{
    if (session->is_broken) {
        return refuse_broken();
    }
    if (count < 1 || count > session->chunk) {
        return status_fail(TAPML_INVALID, "expected 1 to %lld tokens a call, found %lld",
                           (long long)session->chunk, (long long)count);
    }
    if (count > session->capacity - session->position) {
        return status_fail(TAPML_INVALID, "%lld tokens at position %lld exceed the capacity %lld",
                           (long long)count, (long long)session->position,
                           (long long)session->capacity);
    }
    if (row_count < 1 || row_count > session->chunk) {
        return status_fail(TAPML_INVALID, "expected 1 to %lld wanted rows, found %lld",
                           (long long)session->chunk, (long long)row_count);
    }
    return TAPML_OK;
}

static struct compile_options compile_options_of(const struct session *session,
                                                 const uint8_t *places,
                                                 const struct affine_point *point)
{
    return (struct compile_options){
        .graph = session->graph,
        .spaces = &session->spaces,
        .values = session->values,
        .bindings = session->bindings,
        .places = places,
        .point = *point,
        .releases_weights = session->releases_weights,
    };
}

static tapml_status compile(struct session *session,
                            const uint8_t *places,
                            const struct affine_point *point,
                            struct session_program *out_program)
{
    const struct compile_options options = compile_options_of(session, places, point);
    out_program->places = alloc_array(session->graph->op_count, 1);
    if (!out_program->places) {
        return status_no_memory();
    }
    memcpy(out_program->places, places, session->graph->op_count);
    TAPML_TRY(compile_program(&options, &out_program->program));
    return executor_adopt(session->executor, out_program->program);
}

// The program of a call: that of its places under the present plan, compiled where they are new.
static tapml_status find_program(struct session *session,
                                 const struct affine_point *point,
                                 const struct program **out_program)
{
    struct schedule_answer answer;
    TAPML_TRY(schedule_ask(session->schedule, point, &answer));
    if (session->plan_number != answer.plan_number) {
        forget_programs(session);
        session->plan_number = answer.plan_number;
    }
    for (size_t i = 0; i < session->program_count; i++) {
        const struct session_program *known = &session->programs[i];
        if (memcmp(known->places, answer.places, session->graph->op_count) == 0) {
            *out_program = known->program;
            return TAPML_OK;
        }
    }
    if (!alloc_grow((void **)&session->programs, &session->program_capacity, session->program_count,
                    sizeof(*session->programs))) {
        return status_no_memory();
    }
    struct session_program made = {0};
    const tapml_status status = compile(session, answer.places, point, &made);
    if (status != TAPML_OK) {
        program_destroy(made.program);
        alloc_free(made.places);
        return status;
    }
    session->programs[session->program_count++] = made;
    *out_program = made.program;
    return TAPML_OK;
}

// Puts a run of the graph on the timeline of the thread.
static void draw_run(const struct affine_point *point, uint64_t begin_ns)
{
    char name[TIMELINE_NAME];
    if (begin_ns > 0) {
        (void)snprintf(name, sizeof(name), "feed %lld at %lld",
                       (long long)point->value[AFFINE_TOKENS],
                       (long long)point->value[AFFINE_POSITION]);
        timeline_end(timeline_mine(), begin_ns,
                     &(struct timeline_span){.kind = "feed", .name = name});
    }
}

tapml_status session_step(struct session *session,
                          const int32_t *ids,
                          int64_t count,
                          const int32_t *rows,
                          int64_t row_count)
{
    const int64_t wanted = rows ? row_count : count;
    const struct program *program = NULL;
    TAPML_TRY(check_step(session, count, wanted));
    const int64_t end = session->position + count;
    ASSERT(session->position >= 0 && end <= session->capacity);
    struct input_call call = {
        .point.value[AFFINE_TOKENS] = count,
        .point.value[AFFINE_POSITION] = session->position,
        .point.value[AFFINE_ROWS] = wanted,
        .point.value[AFFINE_CAPACITY] = session->capacity,
        .ids = ids,
        .rows = rows,
        .length = session->length > end ? session->length : end,
        .prompt = session->length,
    };
    session->has_step = 0;
    session->point = call.point;
    value_set_begin_call(session->values, &call.point);
    TAPML_TRY(settled(session, input_evaluate(session->inputs, &call)));
    TAPML_TRY(find_program(session, &call.point, &program));
    ASSERT(program && program->node_count == session->graph->op_count); // Each op is called once.
    session->is_broken = 1;
    const uint64_t begin_ns = timeline_begin(timeline_mine());
    TAPML_TRY(executor_run(session->executor, program, &call.point));
    draw_run(&call.point, begin_ns);
    session->is_broken = 0;
    session->has_step = 1;
    session->position = end;
    return TAPML_OK;
}

uint32_t session_failed_op(const struct session *session)
{
    return executor_failed_op(session->executor);
}

tapml_status session_feed(struct session *session, const int32_t *ids, int64_t count)
{
    if (count > session->capacity - session->position) {
        return status_fail(TAPML_INVALID, "%lld tokens at position %lld exceed the capacity %lld",
                           (long long)count, (long long)session->position,
                           (long long)session->capacity);
    }
    int64_t at = 0;
    do {
        const int64_t left = count - at;
        const int64_t here = left < session->chunk ? left : session->chunk;
        const int32_t last = (int32_t)here - 1;
        TAPML_TRY(session_step(session, ids ? ids + at : NULL, here, &last, 1));
        at += here;
    } while (at < count);
    return TAPML_OK;
}

// The first op that writes a state without rows that belong to positions, or NULL.
static const struct graph_op *find_chained(const struct graph *graph)
{
    for (uint32_t i = 0; i < graph->op_count; i++) {
        const struct compiled_op *schema = graph->ops[i].schema;
        for (uint32_t k = 0; k < schema->op->n_params; k++) {
            const struct compiled_param *param = &schema->params[k];
            if ((param->effects & TAPML_E_STATE_WRITE) != 0 && !param->region) {
                return &graph->ops[i];
            }
        }
    }
    return NULL;
}

tapml_status session_rewind(struct session *session, int64_t position)
{
    const struct graph_op *chained = find_chained(session->graph);
    if (chained) {
        return status_fail(TAPML_UNIMPLEMENTED,
                           "'%s' has a state that goes as a whole from token to token",
                           chained->instance);
    }
    if (session->is_broken) {
        return refuse_broken();
    }
    if (position < 0 || position > session->position) {
        return status_fail(TAPML_INVALID, "expected a position of 0 .. %lld, found %lld",
                           (long long)session->position, (long long)position);
    }
    session->position = position;
    session->has_step = 0;
    return TAPML_OK;
}

tapml_status session_output(struct session *session,
                            const char *name,
                            const float **out_values,
                            int64_t *out_shape,
                            uint32_t *out_rank)
{
    struct output output;
    if (!session->has_step) {
        return status_fail(TAPML_PRECONDITION, "there is no output '%s' before a step", name);
    }
    TAPML_TRY(settled(session, output_get(session->outputs, name, &session->point, &output)));
    ASSERT(output.rank <= TAPML_MAX_RANK && output.values);
    memcpy(out_shape, output.shape, sizeof(output.shape));
    *out_rank = output.rank;
    *out_values = output.values;
    return TAPML_OK;
}

tapml_status session_state(struct session *session,
                           const char *name,
                           const float **out_values,
                           uint64_t *out_row_values)
{
    const uint32_t index = graph_find_value(session->graph, GRAPH_STATE, name);
    const void *memory = NULL;
    if (index == GRAPH_NONE) {
        return status_fail(TAPML_NOT_FOUND, "the graph has no state '%s'", name);
    }
    const struct graph_value *state = &session->graph->values[index];
    if (!session->has_step || state->dtype != TAPML_F32) {
        return status_fail(TAPML_PRECONDITION, "state '%s' has no values of f32", name);
    }
    TAPML_TRY(settled(session, value_memory(session->values, index, &memory)));
    *out_row_values = 1;
    for (uint32_t i = 1; i < state->rank; i++) {
        *out_row_values *= (uint64_t)affine_at(&state->shape[i], &session->point);
    }
    *out_values = memory;
    return TAPML_OK;
}

tapml_status session_greedy(struct session *session, int32_t *out_id)
{
    const float *logits = NULL;
    int64_t shape[TAPML_MAX_RANK], best = 0;
    uint32_t rank = 0;
    TAPML_TRY(session_output(session, "logits", &logits, shape, &rank));
    if (rank != 2 || shape[0] < 1 || shape[1] < 1 || shape[1] > INT32_MAX) {
        return status_fail(TAPML_INVALID, "expected 'logits' of rows and ids, found rank %u", rank);
    }
    const float *row = logits + (shape[0] - 1) * shape[1];
    for (int64_t i = 0; i < shape[1]; i++) {
        if (isnan(row[i])) {
            return status_fail(TAPML_INVALID, "the logit of id %lld is NaN", (long long)i);
        }
        best = row[i] > row[best] ? i : best;
    }
    *out_id = (int32_t)best;
    return TAPML_OK;
}

int64_t session_position(const struct session *session)
{
    return session->position;
}

// The call of `count` tokens at the current position, with logits of the last row.
static struct affine_point next_point(const struct session *session, int64_t count)
{
    return (struct affine_point){
        .value[AFFINE_TOKENS] = count,
        .value[AFFINE_POSITION] = session->position,
        .value[AFFINE_ROWS] = 1,
        .value[AFFINE_CAPACITY] = session->capacity,
    };
}

tapml_status session_print_steps(struct session *session, int64_t count, struct text *out_text)
{
    const struct affine_point point = next_point(session, count);
    const char *names[SPACE_PLACES_MAX];
    const struct program *program = NULL;
    TAPML_TRY(check_step(session, count, 1));
    for (uint32_t i = 0; i < session->spaces.place_count; i++) {
        names[i] = session->spaces.places[i].name;
    }
    TAPML_TRY(find_program(session, &point, &program));
    program_print(program, session->graph, names, out_text);
    return text_status(out_text);
}

static tapml_status count_steps(const struct session *session,
                                const uint8_t *places,
                                const struct affine_point *point,
                                struct step_count *out_count)
{
    const struct compile_options options = compile_options_of(session, places, point);
    const struct affine_point largest = largest_point(session);
    struct program *program = NULL;
    TAPML_TRY(compile_program(&options, &program));
    const tapml_status status =
        step_count_make(&(struct step_count_options){.graph = session->graph,
                                                     .spaces = &session->spaces,
                                                     .values = session->values,
                                                     .program = program,
                                                     .places = places,
                                                     .point = point,
                                                     .largest = &largest},
                        out_count);
    program_destroy(program);
    return status;
}

tapml_status session_count_steps(struct session *session,
                                 const uint8_t *places,
                                 int64_t count,
                                 struct step_count *out_count)
{
    const struct affine_point point = next_point(session, count);
    struct schedule_answer answer = {.places = places};
    TAPML_TRY(check_step(session, count, 1));
    if (!places) {
        TAPML_TRY(schedule_ask(session->schedule, &point, &answer));
    }
    return count_steps(session, answer.places, &point, out_count);
}

uint32_t session_refusal_count(const struct session *session)
{
    return schedule_refusal_count(session->schedule);
}

const struct schedule_refusal *session_refusal_at(const struct session *session, uint32_t index)
{
    return schedule_refusal_at(session->schedule, index);
}

const struct ring *session_ring(const struct session *session, uint32_t place)
{
    return session->weights.rings[place];
}

uint64_t session_calls(const struct session *session, uint32_t op, uint32_t place)
{
    return executor_calls(session->executor, op, place);
}

uint64_t session_executions(const struct session *session)
{
    uint64_t executions = 0;
    for (uint32_t op = 0; op < session->graph->op_count; op++) {
        for (uint32_t place = 0; place < session->spaces.place_count; place++) {
            executions += executor_calls(session->executor, op, place);
        }
    }
    return executions;
}

uint64_t session_time_ns(const struct session *session, uint32_t op, uint32_t place)
{
    return executor_time_ns(session->executor, op, place);
}

void session_persist(const struct session *session, struct persist *out_persist)
{
    const struct space_set *spaces = &session->spaces;
    persist_begin(out_persist, spaces->places[0].backend);
    for (uint32_t i = 1; i < spaces->place_count; i++) {
        persist_add(out_persist, spaces->places[i].backend);
    }
}
