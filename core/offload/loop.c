// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "offload/loop.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/clock.h"
#include "offload/evidence.h"
#include "offload/kindred.h"
#include "offload/order.h"
#include "schema/catalogue.h"
#include "store/blame.h"
#include "store/carved.h"
#include "store/offloaded.h"
#include "store/store.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// A proof that a flaky op is gone runs until its absence by chance is this unlikely, or so often.
enum { PROOF_RUNS_MAX = 10 };
static const double PROOF_MISS = 0.05;

struct loop {
    const struct loop_options *options;
    struct arena *arena;
    struct order_kind *kinds;
    struct trial trial;
    struct localise localise;
    uint64_t moves;   // Op executions: of runs that judged a move,
    uint64_t watched; // of watched runs that are made at any rate.
    unsigned proof_runs;
    double proof_miss;
    uint8_t *evidence; // One for each op, an `enum evidence`.
    struct loop_progress progress;
};

// What the last step came to.
struct conclusion {
    struct judge_result judged;
    const char *verdict; // NULL where an earlier start wrote the step.
    uint64_t begin_ns;
};

// -- Rows of steps ----------------------------------------------------------------------------

static tapml_status note(const struct loop *loop,
                         const char *step,
                         const char *verdict,
                         const struct judge_result *result,
                         uint64_t begin_ns)
{
    return step_add(loop->options->store, &(struct step_row){
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
static tapml_status adopt_one(struct loop *loop, uint32_t op, const struct step_row *row)
{
    struct verdict verdict = {.source = "",
                              .label = "",
                              .phase = "",
                              .shape_class = "",
                              .output = "",
                              .kind = VERDICT_FAIL,
                              .margin = row->margin,
                              .reason = row->reason};
    struct step_row own;
    char step[256];

    localise_name_step(&loop->trial, op, step, sizeof(step));
    const tapml_status status =
        step_find(loop->options->store, loop->options->target, step, loop->arena, &own);

    if (status == TAPML_OK) {
        verdict.reason = own.reason;
        verdict.margin = own.margin;
    } else if (status != TAPML_NOT_FOUND) {
        return status;
    }
    return trial_blame(&loop->trial, op, TRIAL_TOGETHER, &verdict, "");
}

// Takes over what a finished step has found: its plan says who was accused.
static tapml_status adopt(struct loop *loop, const struct step_row *row)
{
    const struct graph *graph = loop->options->graph;
    const char *const places[] = {"source", loop->options->target};
    uint8_t *resolved = alloc_array((size_t)graph->op_count * PLAN_PHASES + 1, 1);
    struct plan *plan = NULL;

    if (resolved == NULL) {
        return status_no_memory();
    }
    tapml_status status = plan_parse(row->plan, "the plan of a step", &plan);

    if (status == TAPML_OK) {
        status = plan_resolve(plan, graph, places, 2, resolved);
    }
    for (uint32_t i = 0; i < graph->op_count && status == TAPML_OK; i++) {
        const struct trial_mark *mark = &loop->trial.marks[i];
        const int is_on_source = resolved[i] == 0 && resolved[graph->op_count + i] == 0;

        if (mark->is_wanted && is_on_source && !mark->is_blamed &&
            trial_kind_of(&loop->trial, i) < loop->trial.moved_kinds) {
            status = adopt_one(loop, i, row);
        }
    }
    plan_destroy(plan);
    alloc_free(resolved);
    if (strcmp(row->verdict, STEP_UNEXPLAINED) == 0) {
        loop->localise.unexplained = row->reason;
    }
    return status;
}

// Whether the step was finished by an earlier start; then its findings are taken over.
static tapml_status resume(struct loop *loop, const char *step, struct step_row *row, int *out_done)
{
    const tapml_status status =
        step_find(loop->options->store, loop->options->target, step, loop->arena, row);

    *out_done = status == TAPML_OK;
    if (status == TAPML_NOT_FOUND) {
        return TAPML_OK;
    }
    return status == TAPML_OK ? adopt(loop, row) : status;
}

// -- What fails alone --------------------------------------------------------------------------

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

        if (mark->is_blamed && !mark->is_repeated && mark->verdict.case_id != 0 &&
            mark->evidence != TRIAL_DERIVED) {
            TAPML_TRY(repeat_one(watch, mark));
        }
    }
    loop->localise.cost.repeats = watch != NULL ? watch_repeat_executions(watch) : 0;
    return TAPML_OK;
}

// -- The proof ---------------------------------------------------------------------------------

// The smallest rate of those that fail only sometimes; 1 if none does.
static double least_rate(const struct loop *loop)
{
    double least = 1;

    for (uint32_t i = 0; i < loop->options->graph->op_count; i++) {
        const struct trial_mark *mark = &loop->trial.marks[i];

        if (mark->is_blamed && mark->failed > 0) {
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
    return agreed                               ? STEP_KEPT
           : loop->localise.unexplained != NULL ? STEP_UNEXPLAINED
           : result->agrees                     ? STEP_REVERTED
                                                : STEP_DIVERGES;
}

// Judges the plan as it stands; operators that make it diverge return to the source.
static tapml_status
settle(struct loop *loop, const char *step, size_t kind, struct judge_result *result)
{
    const uint64_t begin_ns = clock_now_ns();

    TAPML_TRY(trial_judge(&loop->trial, result));
    const int agreed = result->agrees;

    loop->moves += result->executions;
    TAPML_TRY(localise_run(&loop->localise, step, kind, result));
    TAPML_TRY(trial_write_plan(&loop->trial));
    return note(loop, step, verdict_of(loop, agreed, result), result, begin_ns);
}

static tapml_status announce(struct loop *loop, const char *step)
{
    loop->progress.step = step;
    return loop->options->progress == NULL
               ? TAPML_OK
               : loop->options->progress(loop->options->user, &loop->progress);
}

// Counts the prompts of a step that is done.
static void count_done(struct loop *loop, size_t prompts, int is_skipped)
{
    loop->progress.done += prompts;
    loop->progress.skipped += is_skipped ? prompts : 0;
}

// Whether an instance of a kind can come to run on the target; of any kind where `kind` is
// kind_count.
static int can_move(const struct loop *loop, size_t kind)
{
    const struct trial *trial = &loop->trial;

    for (uint32_t i = 0; i < trial->graph->op_count; i++) {
        if (trial->marks[i].is_wanted && loop->evidence[i] != EVIDENCE_REFUSED &&
            (kind == trial->kind_count || trial_kind_of(trial, i) == kind)) {
            return 1;
        }
    }
    return 0;
}

// How many prompts judge the move of a kind. Where each instance that moves was right in all its
// cases, one shows that they work together, and an error of a value or a length that no case has is
// left to the end, at which all prompts are judged with all that has moved; it is searched for then
// as it would be now.
static size_t prompts_after(const struct loop *loop, size_t kind)
{
    const struct trial *trial = &loop->trial;

    for (uint32_t i = 0; i < trial->graph->op_count; i++) {
        if (trial->marks[i].is_wanted && loop->evidence[i] == EVIDENCE_NONE &&
            !trial->marks[i].is_alone && trial_kind_of(trial, i) == kind) {
            return loop->options->move_prompts;
        }
    }
    return 1;
}

// A move of what the target refuses changes nothing, so there is nothing to judge.
static tapml_status note_refused(struct loop *loop, const char *step)
{
    const struct judge_result result = {
        .agrees = 1, .sentence = "the target runs none of its instances: they stay on the source"};

    TAPML_TRY(trial_write_plan(&loop->trial));
    return note(loop, step, verdict_of(loop, 1, &result), &result, clock_now_ns());
}

static tapml_status move_kind(struct loop *loop, size_t kind)
{
    const size_t prompts = prompts_after(loop, kind);
    struct judge_result result;
    struct step_row row;
    char step[96];
    int is_done = 0;

    (void)snprintf(step, sizeof(step), "move %.80s", catalogue_short_name(loop->kinds[kind].op));
    TAPML_TRY(announce(loop, step));
    loop->trial.moved_kinds = kind + 1;
    loop->trial.prompts = prompts;
    TAPML_TRY(resume(loop, step, &row, &is_done));
    if (!can_move(loop, kind)) {
        return is_done ? TAPML_OK : note_refused(loop, step);
    }
    if (!is_done) {
        TAPML_TRY(settle(loop, step, kind, &result));
    }
    count_done(loop, prompts, is_done);
    return TAPML_OK;
}

static tapml_status move_kinds(struct loop *loop)
{
    for (size_t kind = 0; kind < loop->trial.kind_count; kind++) {
        TAPML_TRY(move_kind(loop, kind));
    }
    return TAPML_OK;
}

static const char *watch_step(enum watch_mode mode)
{
    return mode == WATCH_SHADOW ? "shadow" : "cumulative";
}

// Judges every call of the first `prompts` prompts on what is on the target.
static tapml_status watch_prompts(struct loop *loop, enum watch_mode mode, size_t prompts)
{
    const uint64_t begin_ns = clock_now_ns(), before = loop->localise.cost.looks;
    struct judge_result result = {.agrees = 1};
    struct watch_look look = {.mode = mode, .repeats = 1};
    struct plan *plan = NULL;
    tapml_status status = trial_plan(&loop->trial, &plan);

    look.plan = plan;
    for (; look.prompt < prompts && status == TAPML_OK; look.prompt++) {
        status = announce(loop, watch_step(mode));
        status = status == TAPML_OK ? localise_look(&loop->localise, &look) : status;
        count_done(loop, 1, 0);
    }
    plan_destroy(plan);
    TAPML_TRY(status);
    loop->watched += loop->localise.cost.looks - before; // Nothing had departed.
    loop->localise.cost.looks = before;
    TAPML_TRY(trial_write_plan(&loop->trial));
    (void)snprintf(result.sentence, sizeof(result.sentence), "%zu prompts, %zu blamed", prompts,
                   trial_count_blamed(&loop->trial));
    return note(loop, watch_step(mode), STEP_JUDGED, &result, begin_ns);
}

// Watches, unless an earlier start did.
static tapml_status watch_or_resume(struct loop *loop, enum watch_mode mode, size_t prompts)
{
    struct step_row row;
    int is_done = 0;

    TAPML_TRY(resume(loop, watch_step(mode), &row, &is_done));
    if (is_done) {
        count_done(loop, prompts, 1);
        return TAPML_OK;
    }
    return watch_prompts(loop, mode, prompts);
}

// All at once, without those that a run of all prompts shows to be wrong.
static tapml_status move_all(struct loop *loop)
{
    const enum watch_mode mode =
        loop->options->mode == LOOP_SHADOW ? WATCH_SHADOW : WATCH_CUMULATIVE;

    if (loop->options->watch == NULL) {
        return status_fail(TAPML_INVALID, "this mode needs a watcher, and there is none");
    }
    loop->trial.moved_kinds = loop->trial.kind_count;
    return watch_or_resume(loop, mode, loop->options->all_prompts);
}

// Whether a run in which kind after kind moves ends with a prompt in the shadow: what comes late
// may be too small for the end of the model to show it. Where nothing runs on the target, no call
// is judged there.
static int has_last_watch(const struct loop *loop)
{
    return loop->options->mode == LOOP_MIXED && loop->options->watch != NULL &&
           can_move(loop, loop->trial.kind_count);
}

// Judges all prompts, with a proof of what is blamed. What diverges in a repeated run of the proof
// is searched for as any other.
static tapml_status settle_final(struct loop *loop, struct conclusion *conclusion)
{
    const size_t all = loop->trial.kind_count;
    struct judge_result *result = &conclusion->judged;
    size_t blamed = 0;

    conclusion->begin_ns = clock_now_ns();
    if (has_last_watch(loop)) {
        TAPML_TRY(watch_or_resume(loop, WATCH_SHADOW, 1));
    }
    TAPML_TRY(announce(loop, "final"));
    TAPML_TRY(trial_judge(&loop->trial, result));
    const int agreed = result->agrees;

    // It is the proof if nothing was blamed after a move, which had one of its own.
    if (trial_count_blamed(&loop->trial) > 0 && loop->localise.cost.proof == 0) {
        loop->localise.cost.proof += result->executions;
    } else {
        loop->moves += result->executions;
    }
    do {
        blamed = trial_count_blamed(&loop->trial);
        TAPML_TRY(localise_run(&loop->localise, "final", all, result));
        TAPML_TRY(repeat_failed(loop));
        TAPML_TRY(prove(loop, result));
    } while (!result->agrees && trial_count_blamed(&loop->trial) > blamed);
    conclusion->verdict = verdict_of(loop, agreed, result);
    return trial_write_plan(&loop->trial);
}

static tapml_status finish(struct loop *loop, struct conclusion *conclusion)
{
    struct judge_result *result = &conclusion->judged;
    struct step_row row;
    int is_done = 0;

    loop->trial.prompts = loop->options->all_prompts;
    TAPML_TRY(announce(loop, "final"));
    TAPML_TRY(resume(loop, "final", &row, &is_done));
    if (!is_done) {
        return settle_final(loop, conclusion);
    }
    *result = (struct judge_result){.agrees = strcmp(row.verdict, STEP_DIVERGES) != 0,
                                    .margin = row.margin};
    (void)snprintf(result->sentence, sizeof(result->sentence), "%s", row.reason);
    TAPML_TRY(repeat_failed(loop)); // How often they fail is not in the store.
    return trial_write_plan(&loop->trial);
}

// -- The whole ---------------------------------------------------------------------------------

// All that is judged if nothing diverges.
static size_t count_prompts(const struct loop *loop)
{
    const struct loop_options *options = loop->options;
    size_t moves = 0;

    if (options->mode != LOOP_MIXED) {
        return 2 * options->all_prompts;
    }
    for (size_t kind = 0; kind < loop->trial.kind_count; kind++) {
        moves += can_move(loop, kind) ? prompts_after(loop, kind) : 0;
    }
    return moves + (has_last_watch(loop) ? 1 : 0) + options->all_prompts;
}

static tapml_status begin(struct loop *loop)
{
    const struct loop_options *options = loop->options;

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
    TAPML_TRY(order_by_policy(options->policy, loop->kinds, loop->trial.kind_count));
    loop->trial.kinds = loop->kinds;
    loop->evidence = arena_array(loop->arena, (size_t)options->graph->op_count + 1, 1);
    if (loop->evidence == NULL) {
        return status_no_memory();
    }
    TAPML_TRY(evidence_read(options->graph, options->verdicts, loop->evidence));
    TAPML_TRY(evidence_blame(&loop->trial, options->verdicts));
    loop->progress.all = count_prompts(loop);
    return kindred_blame(&loop->trial, options->verdicts);
}

// What the session found the target not to have; or NULL.
static const char *find_refusal(const struct session *session, uint32_t op)
{
    for (uint32_t i = 0; i < session_refusal_count(session); i++) {
        const struct schedule_refusal *refusal = session_refusal_at(session, i);

        if (refusal->op == op) {
            return refusal->reason;
        }
    }
    return NULL;
}

static tapml_status write_blamed(const struct loop *loop, uint32_t op)
{
    const struct trial_mark *mark = &loop->trial.marks[op];
    const int is_derived = mark->evidence == TRIAL_DERIVED;

    return blame_write(loop->options->store, loop->options->target,
                       &(struct blame_row){
                           .instance = loop->options->graph->ops[op].instance,
                           .kind = mark->is_alone ? BLAME_ALONE : BLAME_TOGETHER,
                           .margin = mark->verdict.margin,
                           .reason = mark->verdict.reason,
                           .evidence = trial_evidence_name(mark->evidence),
                           .case_id = mark->verdict.case_id,
                           .source = is_derived ? mark->verdict.source : "",
                           .label = is_derived ? mark->verdict.label : "",
                           .tried = mark->tried,
                           .failed = mark->failed,
                       });
}

static tapml_status
write_unsupported(const struct loop *loop, const struct graph_op *op, const char *reason)
{
    return blame_write(loop->options->store, loop->options->target,
                       &(struct blame_row){.instance = op->instance,
                                           .kind = BLAME_UNSUPPORTED,
                                           .margin = NAN,
                                           .reason = reason,
                                           .evidence = "",
                                           .source = "",
                                           .label = ""});
}

static tapml_status write_blames(const struct loop *loop)
{
    const struct loop_options *options = loop->options;

    TAPML_TRY(blame_forget(options->store, options->target));
    for (uint32_t i = 0; i < options->graph->op_count; i++) {
        const struct trial_mark *mark = &loop->trial.marks[i];
        const char *refusal = find_refusal(options->session, i);

        if (mark->is_wanted && mark->is_blamed) {
            TAPML_TRY(write_blamed(loop, i));
        } else if (mark->is_wanted && refusal != NULL) {
            TAPML_TRY(write_unsupported(loop, &options->graph->ops[i], refusal));
        }
    }
    return TAPML_OK;
}

static tapml_status write_offload(const struct loop *loop, const struct judge_result *judged)
{
    const struct loop_options *options = loop->options;
    const struct localise_cost *search = &loop->localise.cost;
    struct carved_counts carved;
    struct offloaded_cost cost = {
        .moves = loop->moves,
        .replays = options->verdicts->executions_since_failure,
        .looks = search->looks,
        .search = search->search,
        .repeats = search->repeats,
        .proof = search->proof,
        .watched = loop->watched,
        .calibrating = options->verdicts->executions_calibrating + search->calibrations +
                       options->calibrations,
    };

    TAPML_TRY(carved_count(options->store, &carved));
    cost.carving = carved.calls;
    return offloaded_write(
        options->store,
        &(struct offloaded_row){
            .target = options->target,
            .agrees = judged->agrees,
            .margin = judged->margin,
            .sentence = judged->sentence,
            .unexplained = loop->localise.unexplained != NULL ? loop->localise.unexplained : "",
            .plan = loop->trial.plan_text.data,
            .checks = loop->localise.checks,
            .proof_runs = loop->proof_runs,
            .proof_miss = loop->proof_miss,
            .cost = cost,
        });
}

static tapml_status write_all(const struct loop *loop, const struct conclusion *conclusion)
{
    if (conclusion->verdict != NULL) {
        TAPML_TRY(
            note(loop, "final", conclusion->verdict, &conclusion->judged, conclusion->begin_ns));
    }
    TAPML_TRY(write_blames(loop));
    return write_offload(loop, &conclusion->judged);
}

// The last step and what the offload came to are one transaction.
static tapml_status conclude(const struct loop *loop, const struct conclusion *conclusion)
{
    struct store *store = loop->options->store;

    TAPML_TRY(store_begin(store));
    tapml_status status = write_all(loop, conclusion);

    if (status == TAPML_OK) {
        status = store_commit(store);
    }
    if (status != TAPML_OK) {
        store_rollback(store);
    }
    return status;
}

static void count_moved(const struct loop *loop, struct loop_counts *counts)
{
    for (uint32_t i = 0; i < loop->options->graph->op_count; i++) {
        const struct trial_mark *mark = &loop->trial.marks[i];

        counts->wanted += mark->is_wanted;
        counts->moved +=
            mark->is_wanted && !mark->is_blamed && find_refusal(loop->options->session, i) == NULL;
    }
}

static tapml_status run(struct loop *loop, struct loop_counts *counts)
{
    struct conclusion conclusion = {.verdict = NULL};

    TAPML_TRY(begin(loop));
    TAPML_TRY(loop->options->mode == LOOP_MIXED ? move_kinds(loop) : move_all(loop));
    TAPML_TRY(finish(loop, &conclusion));
    count_moved(loop, counts);
    return conclude(loop, &conclusion);
}

tapml_status loop_run(const struct loop_options *options, struct loop_counts *out_counts)
{
    struct loop_counts counts = {0};
    struct loop loop = {.options = options, .arena = arena_create()};
    const tapml_status status = loop.arena != NULL ? run(&loop, &counts) : status_no_memory();

    trial_release(&loop.trial);
    alloc_free(loop.kinds);
    arena_destroy(loop.arena);
    TAPML_TRY(status);
    *out_counts = counts;
    return TAPML_OK;
}
