// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "offload/watch.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/assert.h"
#include "base/table.h"
#include "carve/recorder.h"
#include "exec/persist.h"
#include "store/case.h"
#include "store/stored_case.h"
#include "verify/examiner.h"
#include "verify/recast.h"

#include <math.h>

enum {
    REPEATS_FEW = 3, // Failures in a row that a case that fails in one of five has in 1 of 125.
    REPEATS_MANY = 30,
    CUMULATIVE_PART = 1 << 20 // Added to the part of a case with inputs of the target.
};

struct watch {
    struct watch_options options;
    struct verdict_options on_target, on_source;
    struct examiner *target; // Judges calls on the target,
    struct examiner *source; // and on the source what the target has computed.
    struct table op_of;      // Instance to op.
    uint8_t *places;         // Of each op in each phase, under the plan at hand.
    uint64_t repeat_executions;
};

// A look on its way.
struct looking {
    struct watch *watch;
    const struct watch_look *look;
    struct watch_result *result;
    struct watch_finding *findings; // One for each op.
    struct recorder *recorder;
    struct place *recorded; // The source or the target, under the recorder.
    struct session *session;
    const struct persist *persist; // Of source and target.
    uint32_t current;              // The op that was called last.
    tapml_status visited;          // The failure of a visit, which is no finding.
};

static const struct graph *graph_of(const struct watch *watch)
{
    return model_graph(watch->options.model);
}

static struct verdict_options judge_options(const struct watch_options *options,
                                            struct backend *backend)
{
    return (struct verdict_options){.registry = options->registry,
                                    .store = options->store,
                                    .target = options->target->settings.name,
                                    .backend = backend,
                                    .checkpoint = model_checkpoint(options->model)};
}

static tapml_status open_watch(struct watch *watch)
{
    const struct graph *graph = graph_of(watch);

    watch->places = alloc_array((size_t)graph->op_count * PLAN_PHASES + 1, 1);
    if (watch->places == NULL) {
        return status_no_memory();
    }
    for (uint32_t i = 0; i < graph->op_count; i++) {
        TAPML_TRY(table_set(&watch->op_of, graph->ops[i].instance, i));
    }
    TAPML_TRY(examiner_create(&watch->on_target, &watch->target));
    return examiner_create(&watch->on_source, &watch->source);
}

tapml_status watch_create(const struct watch_options *options, struct watch **out_watch)
{
    struct watch *watch = alloc_new(sizeof(*watch));

    if (watch == NULL) {
        return status_no_memory();
    }
    watch->options = *options;
    watch->on_target = judge_options(options, options->target->backend);
    watch->on_target.faults = options->target->settings.faults;
    watch->on_target.fault_count = options->target->settings.fault_count;
    watch->on_source = judge_options(options, options->source->backend);
    watch->on_source.activation = backend_info(options->target->backend)->activation;
    watch->on_source.declares = options->target->backend;
    table_init(&watch->op_of);
    const tapml_status status = open_watch(watch);

    if (status != TAPML_OK) {
        watch_destroy(watch);
        return status;
    }
    *out_watch = watch;
    return TAPML_OK;
}

void watch_destroy(struct watch *watch)
{
    if (watch == NULL) {
        return;
    }
    examiner_destroy(watch->target);
    examiner_destroy(watch->source);
    table_release(&watch->op_of);
    alloc_free(watch->places);
    alloc_free(watch);
}

// -- Calls -------------------------------------------------------------------------------------

static int is_watched(const struct watch *watch, uint32_t op)
{
    return watch->places[op] != 0 || watch->places[graph_of(watch)->op_count + op] != 0;
}

static int wants(void *user, const struct backend_call *call)
{
    struct looking *looking = user;
    size_t op = 0;

    if (!table_find(&looking->watch->op_of, call->instance, &op) ||
        !is_watched(looking->watch, (uint32_t)op)) {
        return 0;
    }
    looking->current = (uint32_t)op;
    return 1;
}

static tapml_status count_verdict(struct looking *looking,
                                  const struct carved_case *item,
                                  const struct verdict *verdict)
{
    struct watch_finding *finding = &looking->findings[looking->current];

    finding->tried++;
    if (verdict_count_failed(verdict, 1) == 0) {
        return TAPML_OK;
    }
    if (finding->failed++ > 0) {
        return TAPML_OK; // The first one is kept.
    }
    TAPML_TRY(verdict_copy(verdict, looking->result->arena, &finding->verdict));
    return examiner_keep(looking->watch->target, item, &finding->verdict,
                         &finding->verdict.case_id);
}

static tapml_status visit_shadow(struct looking *looking, const struct carved_case *item)
{
    for (unsigned i = 0; i < looking->look->repeats; i++) {
        struct verdict verdict;

        TAPML_TRY(examiner_case(looking->watch->target, item, &verdict));
        TAPML_TRY(count_verdict(looking, item, &verdict));
    }
    looking->findings[looking->current].fails_alone = 1;
    return TAPML_OK;
}

// What fails in the run is tried by itself at once.
static tapml_status judge_cumulative(struct looking *looking, struct carved_case *own)
{
    struct watch *watch = looking->watch;
    struct watch_finding *finding = &looking->findings[looking->current];
    struct verdict verdict, alone;

    TAPML_TRY(examiner_computed(watch->source, own, &verdict));
    if (verdict.kind == VERDICT_ERROR) {
        return TAPML_OK; // The source has no answer, which says nothing of the target.
    }
    const uint64_t before = finding->failed;

    TAPML_TRY(count_verdict(looking, own, &verdict));
    if (before == 0 && finding->failed > 0) {
        TAPML_TRY(examiner_case(watch->target, own, &alone));
        finding->fails_alone = verdict_count_failed(&alone, 1) > 0;
    }
    return TAPML_OK;
}

// A call on a target of a reduced dtype is judged as the f32 case that it stands for.
static tapml_status visit_cumulative(struct looking *looking, const struct carved_case *item)
{
    struct arena *arena = arena_create();
    struct carved_case own;

    if (arena == NULL) {
        return status_no_memory();
    }
    tapml_status status = recast_widen_case(
        item, backend_info(looking->watch->options.target->backend)->activation, arena, &own);

    own.part += CUMULATIVE_PART;
    if (status == TAPML_OK) {
        status = judge_cumulative(looking, &own);
    }
    arena_destroy(arena);
    return status;
}

static tapml_status visit(void *user, const struct carved_case *item, const tapml_op *op)
{
    struct looking *looking = user;

    (void)op;
    if (looking->visited != TAPML_OK) {
        return looking->visited; // The run goes on with what does not depend on that call.
    }
    looking->visited = looking->look->mode == WATCH_SHADOW ? visit_shadow(looking, item)
                                                           : visit_cumulative(looking, item);
    return looking->visited;
}

// -- The run -----------------------------------------------------------------------------------

static tapml_status open_session(struct looking *looking)
{
    const struct watch_options *options = &looking->watch->options;
    const int is_shadow = looking->look->mode == WATCH_SHADOW;
    struct place *const places[] = {is_shadow ? looking->recorded : options->source,
                                    looking->recorded};
    struct plan *all_on_source = NULL;

    TAPML_TRY(plan_create(&all_on_source));
    const tapml_status status = session_create(
        &(struct session_options){.model = options->model,
                                  .places = places,
                                  .place_count = is_shadow ? 1 : 2,
                                  .plan = is_shadow ? all_on_source : looking->look->plan,
                                  .capacity = options->capacity,
                                  .chunk = options->chunk},
        &looking->session);

    plan_destroy(all_on_source);
    return status;
}

static tapml_status begin_step(struct looking *looking, int64_t step, int64_t tokens)
{
    const struct watch_options *options = &looking->watch->options;

    if (options->poll != NULL) {
        TAPML_TRY(options->poll(options->user));
    }
    return recorder_begin_step(looking->recorder, options->prompts[looking->look->prompt].id, step,
                               step == 0 ? "prefill" : "decode", tokens);
}

static tapml_status run_prompt(struct looking *looking)
{
    const struct watch_look *look = looking->look;
    const struct judge_prompt *prompt = &looking->watch->options.prompts[look->prompt];
    const int64_t all = prompt->greedy_count > 0 ? prompt->greedy_count : 1;
    const int64_t steps = look->steps > 0 && look->steps < all ? look->steps : all;

    TAPML_TRY(session_give(looking->session, &prompt->given));
    TAPML_TRY(session_begin(looking->session, prompt->count));
    TAPML_TRY(begin_step(looking, 0, prompt->count));
    TAPML_TRY(session_feed(looking->session, prompt->ids, prompt->count));
    for (int64_t step = 1; step < steps; step++) {
        TAPML_TRY(begin_step(looking, step, 1));
        TAPML_TRY(session_step(looking->session, &prompt->greedy[step - 1], 1, NULL, 0));
    }
    return TAPML_OK;
}

// A failure of the target in the run is what it did in the op that the run names, or else in the
// one that was called last, unless somebody else has brought it about.
static tapml_status take_failure(struct looking *looking, tapml_status status)
{
    const uint32_t failed = session_failed_op(looking->session);
    const uint32_t at = failed == GRAPH_NONE ? looking->current : failed;
    struct watch_finding *finding = &looking->findings[at];
    const struct graph_op *op = &graph_of(looking->watch)->ops[at];
    const char *message = arena_text(looking->result->arena, status_message());

    if (status == TAPML_OK || status_ends_all(status) || looking->look->mode == WATCH_SHADOW ||
        looking->visited != TAPML_OK || persist_was_killed(looking->persist)) {
        return status;
    }
    if (message == NULL) {
        return status_no_memory();
    }
    finding->tried++;
    finding->failed++;
    finding->verdict = (struct verdict){.source = "carved",
                                        .label = "",
                                        .instance = op->instance,
                                        .op_name = op->op->name,
                                        .phase = "",
                                        .shape_class = "",
                                        .kind = VERDICT_ERROR,
                                        .margin = (double)INFINITY,
                                        .output = "",
                                        .reason = message};
    return TAPML_OK;
}

static tapml_status look_at(struct looking *looking)
{
    const struct watch_options *options = &looking->watch->options;
    const int is_shadow = looking->look->mode == WATCH_SHADOW;

    const struct place *base = is_shadow ? options->source : options->running;
    struct recorder_made made = {.options = {.checkpoint = model_checkpoint(options->model),
                                             .wants = wants,
                                             .visit = visit,
                                             .user = looking}};
    const struct place_link link = recorder_link(&made);

    TAPML_TRY(place_wrap(base, &base->settings, &link, 1, &looking->recorded));
    looking->recorder = made.recorder;
    TAPML_TRY(open_session(looking));
    const tapml_status status = run_prompt(looking);

    looking->result->executions += session_executions(looking->session);
    return take_failure(looking, status);
}

static void collect(const struct looking *looking)
{
    const struct graph *graph = graph_of(looking->watch);
    struct watch_result *result = looking->result;
    int has_tried = 0;

    ASSERT(looking->findings != NULL);
    for (uint32_t op = 0; op < graph->op_count; op++) {
        struct watch_finding *finding = &looking->findings[op];

        finding->op = op;
        if (finding->tried > 0 && (!has_tried || finding->tried < result->tried_least)) {
            result->tried_least = finding->tried;
            has_tried = 1;
        }
        if (finding->failed > 0) {
            result->items[result->count++] = *finding;
        }
    }
}

static uint64_t judged(const struct watch *watch)
{
    return examiner_executions(watch->target) + examiner_executions(watch->source);
}

static uint64_t calibrated(const struct watch *watch)
{
    return examiner_calibrations(watch->target) + examiner_calibrations(watch->source);
}

static tapml_status prepare(struct looking *looking)
{
    const struct watch *watch = looking->watch;
    const struct graph *graph = graph_of(watch);
    const char *const places[] = {"source", watch->options.target->settings.name};
    struct watch_result *result = looking->result;

    result->arena = arena_create();
    if (result->arena == NULL) {
        return status_no_memory();
    }
    looking->findings = arena_array(result->arena, graph->op_count, sizeof(*looking->findings));
    result->items = arena_array(result->arena, graph->op_count, sizeof(*result->items));
    if (looking->findings == NULL || result->items == NULL) {
        return status_no_memory();
    }
    return plan_resolve(looking->look->plan, graph, places, 2, watch->places);
}

static tapml_status look_once(struct looking *looking)
{
    const struct looking fresh = *looking;
    tapml_status status = prepare(looking);

    if (status == TAPML_OK) {
        status = look_at(looking);
    }
    session_destroy(looking->session);
    place_destroy(looking->recorded);
    if (status != TAPML_OK) {
        watch_result_release(looking->result);
        *looking = fresh;
    }
    return status;
}

// A cumulative run whose worker somebody else has killed is made again. An instance that is not
// called any more is called: it is the call that crashes which is looked for.
static tapml_status look_persistently(struct looking *looking)
{
    struct backend *backend = looking->watch->options.running->backend;
    struct persist persist;
    tapml_status status = TAPML_OK;

    backend_forgive(backend);
    persist_begin(&persist, backend);
    persist_add(&persist, looking->watch->options.source->backend);
    looking->persist = &persist;
    do {
        status = look_once(looking);
    } while (persist_again(&persist, &status));
    return status;
}

tapml_status
watch_run(struct watch *watch, const struct watch_look *look, struct watch_result *out_result)
{
    struct watch_result result = {.arena = NULL};
    struct looking looking = {.watch = watch, .look = look, .result = &result};
    const uint64_t judged_before = judged(watch), calibrated_before = calibrated(watch);
    const tapml_status status = look_persistently(&looking);

    if (status != TAPML_OK) {
        watch_result_release(&result);
        return status;
    }
    collect(&looking);
    result.executions += judged(watch) - judged_before;
    result.calibrations = calibrated(watch) - calibrated_before;
    *out_result = result;
    return TAPML_OK;
}

void watch_result_release(struct watch_result *result)
{
    arena_destroy(result->arena);
    *result = (struct watch_result){.arena = NULL};
}

// -- Again -------------------------------------------------------------------------------------

static tapml_status repeat_case(struct watch *watch,
                                const struct carved_case *item,
                                uint64_t *io_tried,
                                uint64_t *io_failed)
{
    uint64_t tried = 0, failed = 0;

    while (tried < (failed == tried ? REPEATS_FEW : REPEATS_MANY)) {
        struct verdict verdict;

        TAPML_TRY(examiner_case(watch->target, item, &verdict));
        failed += verdict_count_failed(&verdict, 1);
        tried++;
    }
    *io_tried += tried;
    *io_failed += failed;
    return TAPML_OK;
}

tapml_status
watch_repeat(struct watch *watch, int64_t case_id, uint64_t *io_tried, uint64_t *io_failed)
{
    const uint64_t before = examiner_executions(watch->target);
    struct arena *arena = arena_create();
    struct carved_case item;

    if (arena == NULL) {
        return status_no_memory();
    }
    tapml_status status = stored_case_load(watch->options.store, case_id, arena, &item);

    if (status == TAPML_OK) {
        status = repeat_case(watch, &item, io_tried, io_failed);
    }
    arena_destroy(arena);
    watch->repeat_executions += examiner_executions(watch->target) - before;
    return status;
}

uint64_t watch_repeat_executions(const struct watch *watch)
{
    return watch->repeat_executions;
}
