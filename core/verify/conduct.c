// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/conduct.h"

#include "base/arena.h"
#include "base/assert.h"
#include "base/random.h"
#include "store/case.h"
#include "verify/conduct_cause.h"
#include "verify/conduct_time.h"
#include "verify/verdicts.h"

#include <stdio.h>
#include <string.h>

// Cases that are run many times, of each kind; failures that are weighed to find the smallest;
// rounds in the same buffers; and hangs after which no further case is tried.
enum { CHOSEN_MAX = 8, FAILURES_MAX = 32, ROUNDS_IN_PLACE = 5, HANGS_MAX = 2, SHAPE_TEXT = 512 };

void conduct_result_release(struct conduct_result *result)
{
    arena_destroy(result->arena);
    *result = (struct conduct_result){0};
}

// A judgement on its way.
struct conduct_run {
    const struct conduct_options *options;
    struct conduct_stand stand;
    struct verdict_list list; // Of the first pass.
    struct conduct_trial chosen[2 * CHOSEN_MAX];
    size_t chosen_count;
    struct conduct_result *result;
};

// -- The first pass ------------------------------------------------------------------------------

static void add_counts(const struct verdict *verdicts, size_t count, struct conduct_result *result)
{
    for (size_t i = 0; i < count; i++) {
        result->failed += verdict_count_failed(&verdicts[i], 1);
        result->unsupported += verdicts[i].kind == VERDICT_UNSUPPORTED;
        result->skipped += verdicts[i].kind == VERDICT_SKIPPED;
    }
}

static tapml_status judge_once(struct conduct_run *run)
{
    struct verdict_options options = run->options->verdicts;
    struct conduct_result *result = run->result;
    options.backend = run->stand.backend;
    options.fresh = 1;
    options.derived = 1;
    options.hangs_max = HANGS_MAX;
    TAPML_TRY(verdicts_make(&options, &run->list));
    result->kept = run->list.count;
    result->derived = run->list.derived_count;
    result->calls = run->list.executions + run->list.executions_derived;
    add_counts(run->list.items, run->list.count, result);
    add_counts(run->list.derived, run->list.derived_count, result);
    return TAPML_OK;
}

// Why no case was run, or NULL.
static const char *find_refusal(const struct verdict_list *list)
{
    const char *refusal = "there is no case of this op";
    for (size_t i = 0; i < list->count; i++) {
        const struct verdict *verdict = &list->items[i];
        if (verdict->kind != VERDICT_UNSUPPORTED && verdict->kind != VERDICT_SKIPPED) {
            return NULL;
        }
        refusal = i == 0 ? verdict->reason : refusal;
    }
    return refusal;
}

// -- The smallest failure ------------------------------------------------------------------------

static tapml_status weigh(struct conduct_run *run,
                          const struct verdict *verdict,
                          struct conduct_trial *io_smallest,
                          const struct verdict **io_verdict)
{
    struct conduct_trial trial;
    const tapml_status status =
        conduct_trial_make(run->options->verdicts.store, run->stand.examiner, verdict, &trial);
    const int is_smaller = status == TAPML_OK && (!*io_verdict || trial.bytes < io_smallest->bytes);
    struct conduct_trial *other = is_smaller ? io_smallest : &trial;
    conduct_trial_release(other);
    if (is_smaller) {
        *io_smallest = trial;
        *io_verdict = verdict;
    }
    return status == TAPML_NOT_FOUND ? TAPML_OK : status;
}

static tapml_status find_smallest_of(struct conduct_run *run,
                                     const struct verdict *verdicts,
                                     size_t verdict_count,
                                     struct conduct_trial *io_smallest,
                                     const struct verdict **io_verdict)
{
    size_t weighed = 0;
    for (size_t i = 0; i < verdict_count && weighed < FAILURES_MAX; i++) {
        if (verdict_count_failed(&verdicts[i], 1) > 0) {
            TAPML_TRY(weigh(run, &verdicts[i], io_smallest, io_verdict));
            weighed++;
        }
    }
    return TAPML_OK;
}

// A kept case that fails counts before all derived ones: what a model needs is wrong.
static tapml_status find_smallest(struct conduct_run *run,
                                  struct conduct_trial *out_smallest,
                                  const struct verdict **out_verdict)
{
    const struct verdict_list *list = &run->list;
    *out_verdict = NULL;
    TAPML_TRY(find_smallest_of(run, list->items, list->count, out_smallest, out_verdict));
    return *out_verdict ? TAPML_OK
                        : find_smallest_of(run, list->derived, list->derived_count, out_smallest,
                                           out_verdict);
}

// -- Rounds --------------------------------------------------------------------------------------

static tapml_status add_chosen(struct conduct_run *run, const struct verdict *verdict)
{
    struct conduct_trial trial;
    const tapml_status status =
        conduct_trial_make(run->options->verdicts.store, run->stand.examiner, verdict, &trial);
    if (status != TAPML_OK) {
        conduct_trial_release(&trial);
        return status == TAPML_NOT_FOUND ? TAPML_OK : status;
    }
    ASSERT(run->chosen_count < 2 * CHOSEN_MAX);
    run->chosen[run->chosen_count++] = trial;
    return TAPML_OK;
}

// Every n-th of the verdicts that passed.
static tapml_status choose(struct conduct_run *run, const struct verdict *verdicts, size_t count)
{
    size_t passed = 0;
    size_t seen = 0;
    for (size_t i = 0; i < count; i++) {
        passed += verdicts[i].kind == VERDICT_PASS;
    }
    for (size_t i = 0; i < count; i++) {
        if (verdicts[i].kind == VERDICT_PASS && seen++ % (passed / CHOSEN_MAX + 1) == 0) {
            TAPML_TRY(add_chosen(run, &verdicts[i]));
        }
    }
    return TAPML_OK;
}

static void shuffle(struct random *random, size_t *order, size_t count)
{
    for (size_t i = count; i > 1; i--) {
        const size_t other = (size_t)random_below(random, i);
        const size_t moved = order[i - 1];
        order[i - 1] = order[other];
        order[other] = moved;
    }
}

// Runs each chosen case once; `*out_failed` is the first that fails, or NULL.
static tapml_status
run_round(struct conduct_run *run, const size_t *order, const struct conduct_trial **out_failed)
{
    *out_failed = NULL;
    for (size_t i = 0; !*out_failed && i < run->chosen_count; i++) {
        const struct conduct_trial *trial = &run->chosen[order[i]];
        int is_right = 0;
        TAPML_TRY(conduct_stand_try(&run->stand, trial, &is_right));
        *out_failed = is_right ? NULL : trial;
    }
    return TAPML_OK;
}

static tapml_status run_rounds(struct conduct_run *run, const struct conduct_trial **out_failed)
{
    const struct conduct_options *options = run->options;
    size_t order[2 * CHOSEN_MAX] = {0};
    struct random random;
    random_init(&random, options->seed);
    for (size_t i = 0; i < run->chosen_count; i++) {
        order[i] = i;
    }
    *out_failed = NULL;
    for (uint32_t round = 0; !*out_failed && round < options->rounds; round++) {
        if (round % ROUNDS_IN_PLACE == 0) {
            TAPML_TRY(conduct_stand_move(&run->stand));
        }
        shuffle(&random, order, run->chosen_count);
        TAPML_TRY(run_round(run, order, out_failed));
        if (options->progress) {
            TAPML_TRY(options->progress(options->user, round + 1, options->rounds));
        }
    }
    return TAPML_OK;
}

// Once more each, in another mode.
static tapml_status
run_mode(struct conduct_run *run, enum conduct_mode mode, const struct conduct_trial **out_failed)
{
    size_t order[2 * CHOSEN_MAX] = {0};
    for (size_t i = 0; i < run->chosen_count; i++) {
        order[i] = i;
    }
    conduct_probe_set(run->stand.probe, mode);
    const tapml_status status = run_round(run, order, out_failed);
    conduct_probe_set(run->stand.probe, CONDUCT_PLAIN);
    return status;
}

// -- The verdict ---------------------------------------------------------------------------------

// "x=[1,64] weight=[64]"
static tapml_status name_shape(const struct conduct_trial *trial, struct conduct_result *result)
{
    char shape[SHAPE_TEXT];
    tapml_value *values = NULL;
    struct inferred inferred;
    TAPML_TRY(case_values(&trial->item, result->arena, &values));
    TAPML_TRY(infer_call(trial->schema, values, &inferred));
    TAPML_TRY(case_shape_class(&inferred, values, shape, sizeof(shape)));
    result->shape = arena_text(result->arena, shape);
    return result->shape ? TAPML_OK : status_no_memory();
}

// Names the shape of the failure, and why it fails.
static tapml_status settle(struct conduct_run *run,
                           const struct conduct_trial *trial,
                           const struct verdict *failure,
                           enum conduct_mode mode)
{
    struct conduct_result *result = run->result;
    struct verdict *copy = arena_new(result->arena, sizeof(*copy));
    struct conduct_question question = {.stand = &run->stand,
                                        .trial = trial,
                                        .first = failure,
                                        .mode = mode,
                                        .store = run->options->verdicts.store,
                                        .list = &run->list};
    if (!copy) {
        return status_no_memory();
    }
    TAPML_TRY(conduct_cause_find(&question, result->arena, &result->kind, &result->why, copy));
    result->failure = copy;
    return name_shape(trial, result);
}

static tapml_status settle_first_pass(struct conduct_run *run)
{
    struct conduct_trial smallest = {0};
    const struct verdict *failure = NULL;
    tapml_status status = find_smallest(run, &smallest, &failure);
    if (status == TAPML_OK && failure) {
        status = settle(run, &smallest, failure, CONDUCT_PLAIN);
    }
    conduct_trial_release(&smallest);
    if (status == TAPML_OK && !failure) { // None of them can be made again.
        run->result->kind = CONDUCT_WRONG;
        run->result->why = "a case failed that cannot be made again";
    }
    return status;
}

static tapml_status measure(struct conduct_run *run)
{
    struct conduct_result *result = run->result;
    struct conduct_times times = {0};
    TAPML_TRY(conduct_time_measure(&run->stand, run->chosen, run->chosen_count, &times));
    result->cold_ns = times.cold_ns;
    result->warm_ns = times.warm_ns;
    result->copy_ns = times.copy_ns;
    result->written_bytes = times.bytes;
    if (conduct_time_is_impossible(&times)) {
        result->kind = CONDUCT_TOO_FAST;
        result->why = arena_format(result->arena,
                                   "a call that writes %.1f MB takes %.1f us, a copy of as many "
                                   "bytes %.1f us",
                                   (double)times.bytes / 1e6, (double)times.warm_ns / 1e3,
                                   (double)times.copy_ns / 1e3);
        return result->why ? TAPML_OK : status_no_memory();
    }
    return TAPML_OK;
}

static tapml_status repeat(struct conduct_run *run)
{
    static const enum conduct_mode modes[] = {CONDUCT_PLAIN, CONDUCT_ZEROS, CONDUCT_AT_ONCE};
    const struct conduct_trial *failed = NULL;
    TAPML_TRY(choose(run, run->list.items, run->list.count));
    TAPML_TRY(choose(run, run->list.derived, run->list.derived_count));
    for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
        TAPML_TRY(modes[i] == CONDUCT_PLAIN ? run_rounds(run, &failed)
                                            : run_mode(run, modes[i], &failed));
        if (failed) {
            return settle(run, failed, NULL, modes[i]);
        }
    }
    return measure(run);
}

static tapml_status judge(struct conduct_run *run)
{
    struct conduct_result *result = run->result;
    TAPML_TRY(conduct_stand_renew(&run->stand));
    TAPML_TRY(judge_once(run));
    const char *refusal = find_refusal(&run->list);
    if (refusal) {
        result->kind = CONDUCT_UNSUPPORTED;
        result->why = arena_text(result->arena, refusal);
        return result->why ? TAPML_OK : status_no_memory();
    }
    return result->failed > 0 ? settle_first_pass(run) : repeat(run);
}

tapml_status conduct_judge(const struct conduct_options *options, struct conduct_result *out_result)
{
    struct conduct_result result = {.arena = arena_create(), .kind = CONDUCT_RIGHT, .why = ""};
    struct conduct_run run = {.options = options, .result = &result};
    if (!result.arena) {
        return status_no_memory();
    }
    conduct_stand_init(&run.stand, options);
    const tapml_status status = judge(&run);
    result.calls += run.stand.calls;
    for (size_t i = 0; i < run.chosen_count; i++) {
        conduct_trial_release(&run.chosen[i]);
    }
    verdict_list_release(&run.list);
    conduct_stand_release(&run.stand);
    if (status != TAPML_OK) {
        conduct_result_release(&result);
        return status;
    }
    *out_result = result;
    return TAPML_OK;
}
