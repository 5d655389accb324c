// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "offload/loop.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/table.h"
#include "graph/catalogue.h"
#include "store/row.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// A proof that a flaky op is gone runs until its absence by chance is this unlikely, or so often.
enum { PROOF_RUNS_MAX = 10 };
static const double PROOF_MISS = 0.05;

static const char *const unexplained_verdict = "unexplained";

struct loop {
    const struct loop_options *options;
    struct arena *arena;
    struct order_kind *kinds;
    struct trial trial;
    struct localise localise;
    struct loop_cost cost;
    unsigned proof_runs;
    double proof_miss;
};

// -- The ledger --------------------------------------------------------------------------------

static tapml_status note(struct loop *loop,
                         const char *step,
                         const char *verdict,
                         const struct judge_result *result,
                         uint64_t begin_ns)
{
    return ledger_add(loop->options->store, &(struct ledger_row){
                                                .target = loop->options->target,
                                                .step = step,
                                                .verdict = verdict,
                                                .reason = result->sentence,
                                                .plan = loop->trial.plan_text.data,
                                                .margin = result->margin,
                                                .time_ns = clock_now_ns() - begin_ns,
                                            });
}

// Who was accused by a search, for the reason that its row has, or else that of its step.
static tapml_status adopt_one(struct loop *loop, uint32_t op, const struct ledger_row *row)
{
    struct verdict verdict = {.source = "",
                              .label = "",
                              .phase = "",
                              .shape_class = "",
                              .output = "",
                              .kind = VERDICT_FAIL,
                              .margin = row->margin,
                              .reason = row->reason};
    struct ledger_row own;
    char step[256];

    localise_name_step(&loop->trial, op, step, sizeof(step));
    const tapml_status status =
        ledger_find(loop->options->store, loop->options->target, step, loop->arena, &own);

    if (status == TAPML_OK) {
        verdict.reason = own.reason;
        verdict.margin = own.margin;
    } else if (status != TAPML_NOT_FOUND) {
        return status;
    }
    return trial_accuse(&loop->trial, op, TRIAL_TOGETHER, &verdict, "");
}

// Takes over what a finished step has found: its plan says who was accused.
static tapml_status adopt(struct loop *loop, const struct ledger_row *row)
{
    const struct graph *graph = loop->options->graph;
    const char *const places[] = {"source", loop->options->target};
    uint8_t *resolved = alloc_array((size_t)graph->op_count * PLAN_PHASES + 1, 1);
    struct plan *plan = NULL;

    if (resolved == NULL) {
        return status_no_memory();
    }
    tapml_status status = plan_parse(row->plan, "the plan of the ledger", &plan);

    if (status == TAPML_OK) {
        status = plan_resolve(plan, graph, places, 2, resolved);
    }
    for (uint32_t i = 0; i < graph->op_count && status == TAPML_OK; i++) {
        const struct trial_mark *mark = &loop->trial.marks[i];
        const int is_on_source = resolved[i] == 0 && resolved[graph->op_count + i] == 0;

        if (mark->is_wanted && is_on_source && !mark->is_accused &&
            trial_kind_of(&loop->trial, i) < loop->trial.moved_kinds) {
            status = adopt_one(loop, i, row);
        }
    }
    plan_destroy(plan);
    alloc_free(resolved);
    if (strcmp(row->verdict, unexplained_verdict) == 0) {
        loop->localise.unexplained = row->reason;
    }
    return status;
}

// Whether the step was finished by an earlier start; then its findings are taken over.
static tapml_status
resume(struct loop *loop, const char *step, struct ledger_row *row, int *out_done)
{
    const tapml_status status =
        ledger_find(loop->options->store, loop->options->target, step, loop->arena, row);

    *out_done = status == TAPML_OK;
    if (status == TAPML_NOT_FOUND) {
        return TAPML_OK;
    }
    return status == TAPML_OK ? adopt(loop, row) : status;
}

// -- What fails alone --------------------------------------------------------------------------

static tapml_status accuse_failed(struct loop *loop,
                                  const struct verdict *verdicts,
                                  size_t count,
                                  enum trial_evidence evidence)
{
    const struct graph *graph = loop->options->graph;
    struct table op_of;
    tapml_status status = TAPML_OK;

    table_init(&op_of);
    for (uint32_t i = 0; i < graph->op_count && status == TAPML_OK; i++) {
        status = table_set(&op_of, graph->ops[i].instance, i);
    }
    for (size_t i = 0; i < count && status == TAPML_OK; i++) {
        size_t op = 0;

        if (verdict_count_failed(&verdicts[i], 1) > 0 &&
            table_find(&op_of, verdicts[i].instance, &op)) {
            loop->trial.marks[op].is_alone = 1;
            loop->trial.marks[op].tried = loop->trial.marks[op].failed = 1;
            status = trial_accuse(&loop->trial, (uint32_t)op, evidence, &verdicts[i], "");
        }
    }
    table_release(&op_of);
    return status;
}

// Whether a case that failed does so each time, and by itself at all.
static tapml_status repeat_one(struct watch *watch, struct trial_mark *mark)
{
    uint64_t tried = 0, failed = 0;

    TAPML_TRY(watch_repeat(watch, mark->verdict.case_id, &tried, &failed));
    mark->is_repeated = 1;
    if (mark->is_alone || failed > 0) {
        mark->is_alone = 1;
        mark->tried += tried;
        mark->failed += failed;
    }
    return TAPML_OK;
}

static tapml_status repeat_failed(struct loop *loop)
{
    struct watch *watch = loop->options->watch;

    for (uint32_t i = 0; watch != NULL && i < loop->options->graph->op_count; i++) {
        struct trial_mark *mark = &loop->trial.marks[i];

        if (mark->is_accused && !mark->is_repeated && mark->verdict.case_id != 0 &&
            mark->evidence != TRIAL_DERIVED) {
            TAPML_TRY(repeat_one(watch, mark));
        }
    }
    loop->localise.cost.repeats = watch != NULL ? watch_repeat_executions(watch) : 0;
    return TAPML_OK;
}

// -- The proof ---------------------------------------------------------------------------------

// The smallest rate of those that fail only sometimes; 1 where nobody does.
static double least_rate(const struct loop *loop)
{
    double least = 1;

    for (uint32_t i = 0; i < loop->options->graph->op_count; i++) {
        const struct trial_mark *mark = &loop->trial.marks[i];

        if (mark->is_accused && mark->failed > 0) {
            least = fmin(least, (double)mark->failed / (double)mark->tried);
        }
    }
    return least;
}

// Judges the plan without the accused again, where one of them fails only sometimes: until a plan
// with it would hardly have agreed so often.
static tapml_status prove(struct loop *loop, struct judge_result *io_result)
{
    const double calls = (double)io_result->executions / (double)loop->options->graph->op_count;
    const double rate = least_rate(loop);
    const double agrees = rate < 1 ? pow(1 - rate, calls) : 0; // One run, with it there.

    loop->proof_runs = 1;
    loop->proof_miss = agrees;
    while (io_result->agrees && loop->proof_miss > PROOF_MISS &&
           loop->proof_runs < PROOF_RUNS_MAX) {
        TAPML_TRY(trial_judge(&loop->trial, io_result));
        loop->localise.cost.proof += io_result->executions;
        loop->proof_runs++;
        loop->proof_miss *= agrees;
    }
    return TAPML_OK;
}

// -- Steps -------------------------------------------------------------------------------------

static const char *
verdict_of(const struct loop *loop, int agreed, const struct judge_result *result)
{
    return agreed                               ? "kept"
           : loop->localise.unexplained != NULL ? unexplained_verdict
           : result->agrees                     ? "taken back"
                                                : "departs";
}

// Judges the plan as it stands; who makes it depart is taken back.
static tapml_status
settle(struct loop *loop, const char *step, size_t kind, struct judge_result *result)
{
    const uint64_t begin_ns = clock_now_ns();

    TAPML_TRY(trial_judge(&loop->trial, result));
    const int agreed = result->agrees;

    loop->cost.moves += result->executions;
    TAPML_TRY(localise_run(&loop->localise, step, kind, result));
    TAPML_TRY(trial_write_plan(&loop->trial));
    return note(loop, step, verdict_of(loop, agreed, result), result, begin_ns);
}

static tapml_status tell(struct loop *loop, const char *step, size_t done)
{
    return loop->options->progress == NULL
               ? TAPML_OK
               : loop->options->progress(loop->options->user, step, done,
                                         loop->trial.kind_count + 1);
}

static tapml_status move_kinds(struct loop *loop)
{
    for (size_t kind = 0; kind < loop->trial.kind_count; kind++) {
        struct judge_result result;
        struct ledger_row row;
        char step[96];
        int is_done = 0;

        (void)snprintf(step, sizeof(step), "move %.80s",
                       catalogue_short_name(loop->kinds[kind].op));
        TAPML_TRY(tell(loop, step, kind));
        loop->trial.moved_kinds = kind + 1;
        TAPML_TRY(resume(loop, step, &row, &is_done));
        if (!is_done) {
            TAPML_TRY(settle(loop, step, kind, &result));
        }
    }
    return TAPML_OK;
}

// Judges every call of the first `prompts` prompts on what is on the target.
static tapml_status watch_prompts(struct loop *loop, enum watch_mode mode, size_t prompts)
{
    const char *step = mode == WATCH_SHADOW ? "shadow" : "cumulative";
    const uint64_t begin_ns = clock_now_ns(), before = loop->localise.cost.looks;
    struct judge_result result = {.agrees = 1};
    struct watch_look look = {.mode = mode, .repeats = 1};
    struct plan *plan = NULL;
    tapml_status status = trial_plan(&loop->trial, &plan);

    look.plan = plan;
    for (; look.prompt < prompts && status == TAPML_OK; look.prompt++) {
        status = tell(loop, step, loop->trial.kind_count * look.prompt / prompts);
        status = status == TAPML_OK ? localise_look(&loop->localise, &look) : status;
    }
    plan_destroy(plan);
    TAPML_TRY(status);
    loop->cost.watched += loop->localise.cost.looks - before; // Nothing had departed.
    loop->localise.cost.looks = before;
    TAPML_TRY(trial_write_plan(&loop->trial));
    (void)snprintf(result.sentence, sizeof(result.sentence), "%zu prompts, %zu accused", prompts,
                   trial_count_accused(&loop->trial));
    return note(loop, step, "watched", &result, begin_ns);
}

// All at once, without those that a run of all prompts shows to be wrong.
static tapml_status move_all(struct loop *loop)
{
    const enum watch_mode mode =
        loop->options->mode == LOOP_SHADOW ? WATCH_SHADOW : WATCH_CUMULATIVE;
    struct ledger_row row;
    int is_done = 0;

    if (loop->options->watch == NULL) {
        return status_fail(TAPML_INVALID, "nobody watches, which this mode asks for");
    }
    loop->trial.moved_kinds = loop->trial.kind_count;
    TAPML_TRY(resume(loop, mode == WATCH_SHADOW ? "shadow" : "cumulative", &row, &is_done));
    return is_done ? TAPML_OK : watch_prompts(loop, mode, loop->options->all_prompts);
}

// What comes late may be too small for the end of the model to show it.
static tapml_status watch_first(struct loop *loop)
{
    struct ledger_row row;
    int is_done = 0;

    TAPML_TRY(resume(loop, "shadow", &row, &is_done));
    return is_done ? TAPML_OK : watch_prompts(loop, WATCH_SHADOW, 1);
}

// Judges all prompts, with a proof of what was accused. What departs in a repeated run of the proof
// is searched for as any other.
static tapml_status settle_final(struct loop *loop, struct judge_result *result)
{
    const size_t all = loop->trial.kind_count;
    const uint64_t begin_ns = clock_now_ns();
    size_t accused = 0;

    if (loop->options->mode == LOOP_MIXED && loop->options->watch != NULL) {
        TAPML_TRY(watch_first(loop));
    }
    TAPML_TRY(trial_judge(&loop->trial, result));
    const int agreed = result->agrees;

    // It is the proof where nobody was accused after a move, which had one of its own.
    if (trial_count_accused(&loop->trial) > 0 && loop->localise.cost.proof == 0) {
        loop->localise.cost.proof += result->executions;
    } else {
        loop->cost.moves += result->executions;
    }
    do {
        accused = trial_count_accused(&loop->trial);
        TAPML_TRY(localise_run(&loop->localise, "final", all, result));
        TAPML_TRY(repeat_failed(loop));
        TAPML_TRY(prove(loop, result));
    } while (!result->agrees && trial_count_accused(&loop->trial) > accused);
    TAPML_TRY(trial_write_plan(&loop->trial));
    return note(loop, "final", verdict_of(loop, agreed, result), result, begin_ns);
}

static tapml_status finish(struct loop *loop, struct judge_result *result)
{
    struct ledger_row row;
    int is_done = 0;

    loop->trial.prompts = loop->options->all_prompts;
    TAPML_TRY(tell(loop, "final", loop->trial.kind_count));
    TAPML_TRY(resume(loop, "final", &row, &is_done));
    if (!is_done) {
        return settle_final(loop, result);
    }
    *result =
        (struct judge_result){.agrees = strcmp(row.verdict, "departs") != 0, .margin = row.margin};
    (void)snprintf(result->sentence, sizeof(result->sentence), "%s", row.reason);
    TAPML_TRY(repeat_failed(loop)); // How often they fail is not in the store.
    return trial_write_plan(&loop->trial);
}

// -- The whole ---------------------------------------------------------------------------------

static tapml_status begin(struct loop *loop)
{
    const struct loop_options *options = loop->options;
    const struct verdict_list *verdicts = options->verdicts;

    loop->trial = (struct trial){.graph = options->graph,
                                 .session = options->session,
                                 .judge = options->judge,
                                 .goal = options->goal,
                                 .target = options->target,
                                 .prompts = options->move_prompts,
                                 .check = options->check,
                                 .user = options->user,
                                 .arena = loop->arena};
    loop->localise =
        (struct localise){.trial = &loop->trial, .watch = options->watch, .store = options->store};
    TAPML_TRY(trial_init(&loop->trial));
    TAPML_TRY(order_kinds(options->graph, options->store, &loop->kinds, &loop->trial.kind_count));
    loop->trial.kinds = loop->kinds;
    TAPML_TRY(accuse_failed(loop, verdicts->items, verdicts->count, TRIAL_CASE));
    return accuse_failed(loop, verdicts->derived, verdicts->derived_count, TRIAL_DERIVED);
}

static int was_refused(const struct session *session, uint32_t op)
{
    for (uint32_t i = 0; i < session_refusal_count(session); i++) {
        if (session_refusal_at(session, i)->op == op) {
            return 1;
        }
    }
    return 0;
}

static void add_accusation(struct loop *loop, uint32_t op, struct loop_result *result)
{
    const struct trial_mark *mark = &loop->trial.marks[op];
    struct verdict *verdict = &result->verdicts[result->accused_count];

    *verdict = mark->verdict;
    result->accused[result->accused_count++] = (struct loop_accusation){.op = op,
                                                                        .is_alone = mark->is_alone,
                                                                        .margin = verdict->margin,
                                                                        .reason = verdict->reason,
                                                                        .evidence = mark->evidence,
                                                                        .verdict = verdict,
                                                                        .tried = mark->tried,
                                                                        .failed = mark->failed};
}

// Calls of the carving run.
static tapml_status count_carving(struct loop *loop)
{
    struct row row;
    int has = 0;

    TAPML_TRY(row_begin(loop->options->store, "SELECT count(*) FROM call", "counting calls", &row));
    TAPML_TRY(row_next(&row, &has));
    loop->cost.carving = has ? (uint64_t)row_i64(&row, 0) : 0;
    row_end(&row);
    return TAPML_OK;
}

static tapml_status collect_cost(struct loop *loop, struct loop_result *result)
{
    const struct verdict_list *verdicts = loop->options->verdicts;
    struct loop_cost *cost = &loop->cost;

    TAPML_TRY(count_carving(loop));
    cost->replays = verdicts->executions_since_failure;
    cost->search = loop->localise.cost;
    cost->localising = cost->replays + cost->search.looks + cost->search.search +
                       cost->search.repeats + cost->search.proof;
    cost->calibrating = verdicts->executions_calibrating + cost->search.calibrations;
    result->cost = *cost;
    return TAPML_OK;
}

static tapml_status collect(struct loop *loop, struct loop_result *result)
{
    const uint32_t op_count = loop->options->graph->op_count;

    result->accused = arena_array(loop->arena, (size_t)op_count + 1, sizeof(*result->accused));
    result->verdicts = arena_array(loop->arena, (size_t)op_count + 1, sizeof(*result->verdicts));
    if (result->accused == NULL || result->verdicts == NULL) {
        return status_no_memory();
    }
    for (uint32_t i = 0; i < op_count; i++) {
        const struct trial_mark *mark = &loop->trial.marks[i];

        result->wanted_count += mark->is_wanted;
        if (mark->is_wanted && mark->is_accused) {
            add_accusation(loop, i, result);
        } else if (mark->is_wanted) {
            result->moved_count++;
            result->refused_count += was_refused(loop->options->session, i);
        }
    }
    result->unexplained = loop->localise.unexplained;
    result->checks = loop->localise.checks;
    result->proof_runs = loop->proof_runs;
    result->proof_miss = loop->proof_miss;
    TAPML_TRY(collect_cost(loop, result));
    return plan_parse(loop->trial.plan_text.data, "plan", &result->plan);
}

static tapml_status run(struct loop *loop, struct loop_result *result)
{
    TAPML_TRY(begin(loop));
    TAPML_TRY(loop->options->mode == LOOP_MIXED ? move_kinds(loop) : move_all(loop));
    TAPML_TRY(finish(loop, &result->judged));
    return collect(loop, result);
}

tapml_status loop_run(const struct loop_options *options, struct loop_result *out_result)
{
    const uint64_t begin_ns = clock_now_ns();
    struct loop loop = {.options = options, .arena = arena_create()};
    struct loop_result result = {.arena = loop.arena};
    const tapml_status status = loop.arena != NULL ? run(&loop, &result) : status_no_memory();

    trial_release(&loop.trial);
    alloc_free(loop.kinds);
    if (status != TAPML_OK) {
        loop_result_release(&result);
        return status;
    }
    result.time_ns = clock_now_ns() - begin_ns;
    *out_result = result;
    return TAPML_OK;
}

void loop_result_release(struct loop_result *result)
{
    plan_destroy(result->plan);
    arena_destroy(result->arena);
    *result = (struct loop_result){0};
}
