// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/plan_ground.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/assert.h"
#include "base/file.h"
#include "exec/plan.h"
#include "exec/session.h"
#include "exec/step_count.h"
#include "store/blame.h"
#include "store/feature.h"
#include "store/metadata.h"
#include "verify/verdict.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { CAPACITY = 512, CALL = 128 };

// What contenders of the run are given: the rest is that of the run.
static const struct options_spec specs[] = {
    {"--model", "PATH", ""}, TEXT_SETUP_OPTIONS, PLAN_SETUP_OPTIONS, SETUP_ISOLATION_OPTIONS,
    SETUP_MODEL_OPTIONS,     SETUP_OPTIONS,      {NULL, NULL, NULL}};

// -- Options -----------------------------------------------------------------------------------

static const struct options_spec *find_spec(const char *name)
{
    const struct options_spec *spec = specs;

    while (spec->name != NULL && strcmp(spec->name, name) != 0) {
        spec++;
    }
    return spec->name != NULL ? spec : NULL;
}

static void give(struct plan_ground *ground, const char *name, const char *value)
{
    struct options *options = &ground->options;

    ASSERT(options->given_count < OPTIONS_MAX);
    options->given[options->given_count].spec = find_spec(name);
    options->given[options->given_count++].value = value;
}

// Of the command those that stand for the text, the plugins and the threads.
static tapml_status take_options(struct plan_ground *ground)
{
    static const struct options_spec shared[] = {PLAN_GROUND_OPTIONS, {NULL, NULL, NULL}};
    const struct options *given = ground->from.given;
    char *path = file_join(ground->from.folder, "plan-search.txt");

    ground->plan = path != NULL ? arena_text(ground->arena, path) : NULL;
    alloc_free(path);
    if (ground->plan == NULL) {
        return status_no_memory();
    }
    ground->options = (struct options){.specs = specs};
    for (size_t i = 0; i < given->given_count && i + 3 < OPTIONS_MAX; i++) {
        if (options_has(shared, given->given[i].spec->name)) {
            give(ground, given->given[i].spec->name, given->given[i].value);
        }
    }
    if (options_get(given, "--text") == NULL && ground->from.text != NULL) {
        give(ground, "--text", ground->from.text);
    }
    give(ground, "--plan", ground->plan);
    return TAPML_OK;
}

// -- Model, places and a session over them -----------------------------------------------------

static tapml_status find_capacity(struct plan_ground *ground)
{
    struct text_chunks chunks;

    ground->capacity = CAPACITY;
    if (options_get(&ground->options, "--text") != NULL) {
        TAPML_TRY(
            text_setup_chunks(&ground->setup, &ground->options, ground->model.folder, 0, &chunks));
        ground->capacity = chunks.context;
        text_chunks_release(&chunks);
        return TAPML_OK;
    }
    const char *kept = metadata_get(ground->plan_setup.run, "capacity");

    if (kept != NULL && (text_parse_i64(kept, &ground->capacity) != TAPML_OK ||
                         ground->capacity < 1 || ground->capacity > INT32_MAX / 2)) {
        return status_fail(TAPML_INVALID, "the run's metadata 'capacity' is '%s'", kept);
    }
    return TAPML_OK;
}

static tapml_status open_session(struct plan_ground *ground)
{
    struct setup *setup = &ground->setup;
    struct plan *plan = NULL;

    TAPML_TRY(plan_create(&plan));
    const tapml_status status = session_create(
        &(struct session_options){.model = setup->model,
                                  .places = setup->places,
                                  .place_count = setup->place_count,
                                  .plan = plan,
                                  .capacity = ground->capacity,
                                  .chunk = ground->capacity < CALL ? ground->capacity : CALL},
        &ground->session);

    plan_destroy(plan);
    return status;
}

static tapml_status open_model(struct plan_ground *ground)
{
    struct setup *setup = &ground->setup;

    TAPML_TRY(setup_open(ground->from.program, &ground->options, NULL, setup));
    TAPML_TRY(plan_setup_open(setup, &ground->options, &ground->plan_setup));
    if (ground->plan_setup.run == NULL) {
        return status_fail(TAPML_PRECONDITION,
                           "'%s' has no run: carve one first, by tapml-host --config FILE",
                           ground->from.folder);
    }
    TAPML_TRY(plan_setup_model(&ground->plan_setup, &ground->model));
    TAPML_TRY(plan_setup_places(&ground->plan_setup));
    if (setup->place_count < 2) {
        return status_fail(TAPML_PRECONDITION,
                           "the run in '%s' has no target, so that there is one plan alone",
                           ground->from.folder);
    }
    TAPML_TRY(find_capacity(ground));
    return open_session(ground);
}

// -- The question ------------------------------------------------------------------------------

static tapml_status make_ops(struct plan_ground *ground)
{
    const struct graph *graph = model_graph(ground->setup.model);
    const uint32_t places = ground->setup.place_count;
    tapml_policy_op *ops = arena_array(ground->arena, graph->op_count, sizeof(*ops));
    const tapml_policy_op **list = arena_array(ground->arena, graph->op_count, sizeof(*list));
    double *times = arena_array(ground->arena, (size_t)graph->op_count * places, sizeof(*times));
    uint8_t *may_run = arena_array(ground->arena, (size_t)graph->op_count * places, 1);

    if (ops == NULL || list == NULL || times == NULL || may_run == NULL) {
        return status_no_memory();
    }
    for (uint32_t i = 0; i < graph->op_count; i++) {
        ops[i] = (tapml_policy_op){.hdr = TAPML_HDR(tapml_policy_op),
                                   .op = graph->ops[i].op,
                                   .instance = graph->ops[i].instance,
                                   .time_ns = times + (size_t)i * places,
                                   .may_run = may_run + (size_t)i * places};
        list[i] = &ops[i];
        may_run[(size_t)i * places] = 1;
    }
    for (uint32_t i = 0; i < places; i++) {
        ground->names[i] = ground->setup.places[i]->settings.name;
        ground->is_reduced[i] =
            activation_is_reduced(ground->setup.places[i]->settings.activation) != 0;
    }
    ground->question = (tapml_policy_ops){.hdr = TAPML_HDR(tapml_policy_ops),
                                          .places = ground->names,
                                          .ops = list,
                                          .n_places = places,
                                          .n_ops = graph->op_count,
                                          .count_max = PLAN_BUILD_MOST};
    return TAPML_OK;
}

// The array behind a question's operator, which is this module's.
static uint8_t *may_run_of(struct plan_ground *ground, uint32_t op)
{
    return (uint8_t *)(uintptr_t)ground->question.ops[op]->may_run;
}

static tapml_status find_times(struct plan_ground *ground, uint32_t place)
{
    const struct graph *graph = model_graph(ground->setup.model);
    double *times = alloc_array((size_t)graph->op_count + 1, sizeof(*times));

    if (times == NULL) {
        return status_no_memory();
    }
    const tapml_status status =
        plan_times_find(ground->plan_setup.run, place == 0 ? "" : ground->names[place], graph,
                        times, &ground->places[place].times);

    for (uint32_t i = 0; status == TAPML_OK && i < graph->op_count; i++) {
        ((double *)(uintptr_t)ground->question.ops[i]->time_ns)[place] = times[i];
    }
    alloc_free(times);
    return status;
}

// -- Where operators may run -------------------------------------------------------------------

enum proof { PROOF_NONE, PROOF_PASSED, PROOF_UNKNOWN, PROOF_FAILED };

static enum proof proof_of(const struct verdict *verdict)
{
    switch (verdict->kind) {
    case VERDICT_PASS:
        return PROOF_PASSED;
    case VERDICT_FAIL:
    case VERDICT_ERROR:
        return PROOF_FAILED;
    case VERDICT_UNSUPPORTED:
    case VERDICT_SKIPPED:
    case VERDICT_STALE:
        break;
    }
    return PROOF_UNKNOWN;
}

static void take_verdicts(struct plan_ground *ground,
                          uint32_t place,
                          const struct verdict_list *list,
                          uint8_t *proofs)
{
    const struct graph *graph = model_graph(ground->setup.model);
    struct plan_ground_place *own = &ground->places[place];

    for (size_t i = 0; i < list->count; i++) {
        const uint32_t op = graph_find_op(graph, list->items[i].instance);
        const enum proof proof = proof_of(&list->items[i]);

        if (op != GRAPH_NONE && proof > proofs[op]) {
            proofs[op] = (uint8_t)proof;
        }
    }
    for (uint32_t op = 0; op < graph->op_count; op++) {
        own->failed += proofs[op] == PROOF_FAILED;
        own->unknown += proofs[op] == PROOF_NONE || proofs[op] == PROOF_UNKNOWN;
        may_run_of(ground, op)[place] =
            proofs[op] == PROOF_PASSED && plan_can_name(graph->ops[op].instance);
    }
}

// A case that was not replayed proves nothing, whatever the others of its operator say.
static tapml_status note_missing(struct plan_ground *ground, uint32_t place, uint8_t *proofs)
{
    const struct graph *graph = model_graph(ground->setup.model);
    struct arena *arena = arena_create();
    struct feature_case *cases = NULL;
    size_t count = 0;
    const tapml_status status =
        arena != NULL
            ? feature_list(ground->plan_setup.run, ground->names[place], arena, &cases, &count)
            : status_no_memory();

    for (size_t i = 0; status == TAPML_OK && i < count; i++) {
        const uint32_t op =
            cases[i].has_result ? GRAPH_NONE : graph_find_op(graph, cases[i].instance);

        if (op != GRAPH_NONE) {
            proofs[op] = PROOF_UNKNOWN;
        }
    }
    arena_destroy(arena);
    return status;
}

// What the offload of the run has blamed, by derived cases or by the model alone, too; under a
// driver that is wrong nothing is right.
static tapml_status note_blamed(struct plan_ground *ground, uint32_t place, uint8_t *proofs)
{
    const struct graph *graph = model_graph(ground->setup.model);
    struct arena *arena = arena_create();
    struct blame_row *rows = NULL;
    size_t count = 0;
    const tapml_status status =
        arena != NULL
            ? blame_list(ground->plan_setup.run, ground->names[place], arena, &rows, &count)
            : status_no_memory();

    for (size_t i = 0; status == TAPML_OK && i < count; i++) {
        const uint32_t op =
            blame_is_failure(&rows[i]) ? graph_find_op(graph, rows[i].instance) : GRAPH_NONE;

        if (blame_is_driver(&rows[i])) {
            memset(proofs, PROOF_FAILED, graph->op_count);
        } else if (op != GRAPH_NONE) {
            proofs[op] = PROOF_FAILED;
        }
    }
    arena_destroy(arena);
    return status;
}

static tapml_status find_proofs(struct plan_ground *ground, uint32_t place)
{
    const struct graph *graph = model_graph(ground->setup.model);
    uint8_t *proofs = alloc_array((size_t)graph->op_count + 1, 1);
    struct verdict_list list = {.count = 0};

    if (proofs == NULL) {
        return status_no_memory();
    }
    tapml_status status = note_missing(ground, place, proofs);

    if (status == TAPML_OK) {
        status = note_blamed(ground, place, proofs);
    }
    if (status == TAPML_OK) {
        status = verdict_read(ground->plan_setup.run, ground->names[place], &list);
    }
    if (status == TAPML_OK) {
        take_verdicts(ground, place, &list, proofs);
    }
    verdict_list_release(&list);
    alloc_free(proofs);
    return status;
}

static tapml_status ask_for(struct plan_ground *ground, const struct plan *plan)
{
    struct step_count count;

    TAPML_TRY(session_set_plan(ground->session, plan));
    TAPML_TRY(session_count_steps(ground->session, NULL, 1, &count));
    return ground->capacity > 1
               ? session_count_steps(ground->session, NULL,
                                     ground->capacity < CALL ? ground->capacity : CALL, &count)
               : TAPML_OK;
}

static tapml_status take_refusals(struct plan_ground *ground, uint32_t place)
{
    struct plan_ground_place *own = &ground->places[place];

    for (uint32_t i = 0; i < session_refusal_count(ground->session); i++) {
        const struct schedule_refusal *refusal = session_refusal_at(ground->session, i);

        may_run_of(ground, refusal->op)[place] = 0;
        own->refused++;
        if (own->reason == NULL) {
            own->reason = arena_text(ground->arena, refusal->reason);
            if (own->reason == NULL) {
                return status_no_memory();
            }
        }
    }
    for (uint32_t op = 0; op < ground->question.n_ops; op++) {
        own->may_run += may_run_of(ground, op)[place];
    }
    return TAPML_OK;
}

static tapml_status find_refusals(struct plan_ground *ground, uint32_t place)
{
    const char *rule = arena_format(ground->arena, "* -> %s", ground->names[place]);
    struct plan *plan = NULL;

    if (rule == NULL) {
        return status_no_memory();
    }
    TAPML_TRY(plan_create(&plan));
    tapml_status status = plan_add(plan, rule, "all");

    status = status == TAPML_OK ? ask_for(ground, plan) : status;
    plan_destroy(plan);
    return status == TAPML_OK ? take_refusals(ground, place) : status;
}

// -- All of it ---------------------------------------------------------------------------------

static tapml_status open_all(struct plan_ground *ground)
{
    TAPML_TRY(take_options(ground));
    TAPML_TRY(open_model(ground));
    TAPML_TRY(make_ops(ground));
    TAPML_TRY(find_times(ground, 0));
    for (uint32_t place = 1; place < ground->question.n_places; place++) {
        TAPML_TRY(find_times(ground, place));
        TAPML_TRY(find_proofs(ground, place));
        TAPML_TRY(find_refusals(ground, place));
    }
    return plan_ground_measure_time(ground);
}

tapml_status plan_ground_open(const struct plan_ground_options *options,
                              struct plan_ground *out_ground)
{
    *out_ground = (struct plan_ground){.from = *options, .arena = arena_create()};
    return out_ground->arena != NULL ? open_all(out_ground) : status_no_memory();
}

void plan_ground_close(struct plan_ground *ground)
{
    session_destroy(ground->session);
    plan_setup_close(&ground->plan_setup);
    setup_close(&ground->setup);
    arena_destroy(ground->arena);
    *ground = (struct plan_ground){.arena = NULL};
}

tapml_status plan_ground_measure_divergence(struct plan_ground *ground)
{
    return plan_columns_init(&ground->question, ground->is_reduced, ground->arena,
                             &ground->columns);
}

tapml_status plan_ground_measure_time(struct plan_ground *ground)
{
    return plan_columns_init(&ground->question, NULL, ground->arena, &ground->columns);
}

tapml_status plan_ground_look(void *user, const uint8_t *places, struct plan_look *io_look)
{
    struct plan_ground *ground = user;
    struct step_count count;

    TAPML_TRY(session_count_steps(ground->session, places, 1, &count));
    for (uint32_t i = 0; i < ground->question.n_places; i++) {
        io_look->bytes[i] = step_count_memory(&count.places[i]);
    }
    io_look->moves = step_count_moves(&count);
    io_look->moved_bytes = step_count_bytes(&count);
    plan_columns_fill(&ground->columns, places, &count, io_look->columns);
    return TAPML_OK;
}

tapml_status
plan_ground_resolve(struct plan_ground *ground, const struct plan *plan, uint8_t *out_places)
{
    const struct graph *graph = model_graph(ground->setup.model);
    const size_t count = graph->op_count;
    uint8_t *both = alloc_array(count * PLAN_PHASES + 1, 1);

    if (both == NULL) {
        return status_no_memory();
    }
    tapml_status status = plan_resolve(plan, graph, ground->names, ground->question.n_places, both);

    if (status == TAPML_OK) {
        memcpy(out_places, both + count * PLAN_DECODE, count);
        status = ask_for(ground, plan);
    }
    alloc_free(both);
    for (uint32_t i = 0; status == TAPML_OK && i < session_refusal_count(ground->session); i++) {
        out_places[session_refusal_at(ground->session, i)->op] = 0;
    }
    return status;
}

// -- What can never be -------------------------------------------------------------------------

// The least memory that one operator alone takes at a place.
static tapml_status
find_least(struct plan_ground *ground, uint8_t place, uint8_t *scratch, uint64_t *io_least)
{
    for (uint32_t op = 0; op < ground->question.n_ops; op++) {
        struct step_count count;

        if (!ground->question.ops[op]->may_run[place]) {
            continue;
        }
        memset(scratch, 0, ground->question.n_ops);
        scratch[op] = place;
        TAPML_TRY(session_count_steps(ground->session, scratch, 1, &count));
        const uint64_t bytes = step_count_memory(&count.places[place]);

        *io_least = bytes < *io_least ? bytes : *io_least;
    }
    return TAPML_OK;
}

static tapml_status check_memory(struct plan_ground *ground, uint64_t memory_bytes)
{
    uint8_t *scratch = alloc_array((size_t)ground->question.n_ops + 1, 1);
    uint64_t least = UINT64_MAX;
    tapml_status status = scratch != NULL ? TAPML_OK : status_no_memory();

    for (uint8_t place = 1; status == TAPML_OK && place < ground->question.n_places; place++) {
        status = find_least(ground, place, scratch, &least);
    }
    alloc_free(scratch);
    TAPML_TRY(status);
    return least <= memory_bytes
               ? TAPML_OK
               : status_fail(TAPML_UNAVAILABLE,
                             "no operator fits: the smallest takes %" PRIu64
                             " bytes away from the source, --memory allows %" PRIu64,
                             least, memory_bytes);
}

tapml_status plan_ground_check(struct plan_ground *ground, uint64_t memory_bytes)
{
    const struct plan_ground_place *first = &ground->places[1];
    uint32_t may_run = 0;

    for (uint32_t place = 1; place < ground->question.n_places; place++) {
        may_run += ground->places[place].may_run;
    }
    if (may_run == 0) {
        return status_fail(
            TAPML_UNAVAILABLE,
            "no operator may leave the source: of %" PRIu32 " on '%s', %" PRIu32
            " have failed, %" PRIu32 " have no fresh result (run tapml-host --config "
            "FILE first), %" PRIu32 " are refused%s%s",
            ground->question.n_ops, ground->names[1], first->failed, first->unknown, first->refused,
            first->reason != NULL ? ": " : "", first->reason != NULL ? first->reason : "");
    }
    return memory_bytes > 0 ? check_memory(ground, memory_bytes) : TAPML_OK;
}
