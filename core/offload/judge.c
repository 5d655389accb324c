// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "offload/judge.h"

#include "base/alloc.h"
#include "exec/persist.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LIMIT_FACTOR = 8 };

// What f32 logits cannot resolve, even if the devices of the reference agree: a relative error of
// 1e-5 in logits of size 1 moves the KL divergence by 1e-10.
static const double distance_floor = 1e-10;

// Outputs of the source for one prompt: every step's logits, or all outputs after the prefill.
struct truth {
    float *values;
    size_t count;
};

struct judge {
    struct judge_options options;
    struct truth *truths; // Of the kept prompts; values NULL until needed.
    int has_logits;
    struct judge_limits limits;
};

tapml_status judge_create(const struct judge_options *options, struct judge **out_judge)
{
    struct judge *judge = alloc_new(sizeof(*judge));

    if (judge == NULL) {
        return status_no_memory();
    }
    judge->options = *options;
    judge->limits.distance = distance_floor;
    judge->has_logits = graph_find_output(options->graph, "logits") != GRAPH_NONE;
    judge->truths = alloc_array(options->kept_count + 1, sizeof(*judge->truths));
    if (judge->truths == NULL) {
        judge_destroy(judge);
        return status_no_memory();
    }
    *out_judge = judge;
    return TAPML_OK;
}

void judge_destroy(struct judge *judge)
{
    if (judge == NULL) {
        return;
    }
    for (size_t i = 0; judge->truths != NULL && i < judge->options.kept_count; i++) {
        alloc_free(judge->truths[i].values);
    }
    alloc_free(judge->truths);
    alloc_free(judge);
}

double judge_distance_limit(const struct judge *judge)
{
    return judge->limits.distance;
}

// -- What a session computes -------------------------------------------------------------------

// Called with what is judged after each step.
typedef tapml_status (*visit_fn)(void *user, int64_t step, const float *values, size_t count);

static tapml_status visit_outputs(
    const struct judge *judge, struct session *session, visit_fn visit, void *user, int64_t step)
{
    const struct graph *graph = judge->options.graph;
    int64_t shape[TAPML_MAX_RANK];
    uint32_t rank = 0;

    for (uint32_t i = 0; i < graph->output_count; i++) {
        const char *name = graph->outputs[i].name;
        const float *values = NULL;
        size_t count = 1;

        if (judge->has_logits && strcmp(name, "logits") != 0) {
            continue;
        }
        TAPML_TRY(session_output(session, name, &values, shape, &rank));
        for (uint32_t axis = 0; axis < rank; axis++) {
            count *= (size_t)shape[axis];
        }
        TAPML_TRY(visit(user, step, values, count));
    }
    return TAPML_OK;
}

// Runs the first steps of a prompt, or (0) all, forced along the source's choices.
static tapml_status run_prompt(const struct judge *judge,
                               struct session *session,
                               const struct judge_prompt *prompt,
                               int64_t steps,
                               visit_fn visit,
                               void *user)
{
    const int64_t all = judge->has_logits && prompt->greedy_count > 0 ? prompt->greedy_count : 1;

    TAPML_TRY(session_give(session, &prompt->given));
    TAPML_TRY(session_begin(session, prompt->count));
    TAPML_TRY(session_feed(session, prompt->ids, prompt->count));
    TAPML_TRY(visit_outputs(judge, session, visit, user, 0));
    for (int64_t step = 1; step < (steps > 0 && steps < all ? steps : all); step++) {
        TAPML_TRY(session_step(session, &prompt->greedy[step - 1], 1, NULL, 0));
        TAPML_TRY(visit_outputs(judge, session, visit, user, step));
    }
    return TAPML_OK;
}

static tapml_status append_values(void *user, int64_t step, const float *values, size_t count)
{
    struct truth *truth = user;
    float *longer = alloc_array(truth->count + count, sizeof(*longer));

    (void)step;
    if (longer == NULL) {
        return status_no_memory();
    }
    if (truth->count > 0) {
        memcpy(longer, truth->values, truth->count * sizeof(*longer));
    }
    memcpy(longer + truth->count, values, count * sizeof(*longer));
    alloc_free(truth->values);
    truth->values = longer;
    truth->count += count;
    return TAPML_OK;
}

static tapml_status
run_source(const struct judge *judge, const struct judge_prompt *prompt, struct truth *truth)
{
    struct session *source = judge->options.source;
    struct persist persist;
    tapml_status status = TAPML_OK;

    session_persist(source, &persist);
    do {
        alloc_free(truth->values); // Of a try that was ended.
        *truth = (struct truth){0};
        status = run_prompt(judge, source, prompt, 0, append_values, truth);
    } while (persist_again(&persist, &status));
    if (status != TAPML_OK) {
        alloc_free(truth->values);
        *truth = (struct truth){0};
    }
    return status;
}

// The source's outputs for a prompt: `*spare` for those that are not kept.
static tapml_status
find_truth(struct judge *judge, size_t index, struct truth *spare, const struct truth **out_truth)
{
    struct truth *truth = index < judge->options.kept_count ? &judge->truths[index] : spare;

    if (truth->values == NULL) {
        const tapml_status status = run_source(judge, &judge->options.prompts[index], truth);

        if (status != TAPML_OK) {
            return status_explain(status, "while running the source");
        }
    }
    *out_truth = truth;
    return TAPML_OK;
}

// -- Distances ---------------------------------------------------------------------------------

struct distance {
    double value;        // KL or NMSE.
    double logit_spread; // The largest |a - b|.
    int is_finite;
    int64_t choice;        // The computed top-1,
    double choice_deficit; // and how far below its own top-1 the source has that one.
};

static size_t largest(const float *values, size_t count)
{
    size_t best = 0;

    for (size_t i = 1; i < count; i++) {
        best = values[i] > values[best] ? i : best;
    }
    return best;
}

// The logarithm of the sum of exponentials, with the maximum taken out.
static double log_sum(const float *values, size_t count)
{
    const double top = values[largest(values, count)];
    double sum = 0;

    for (size_t i = 0; i < count; i++) {
        sum += exp((double)values[i] - top);
    }
    return top + log(sum);
}

// KL(source || computed) of two rows of logits.
static double divergence(const float *source, const float *computed, size_t count)
{
    const double source_log = log_sum(source, count), computed_log = log_sum(computed, count);
    double sum = 0;

    for (size_t i = 0; i < count; i++) {
        const double p = (double)source[i] - source_log, q = (double)computed[i] - computed_log;

        sum += exp(p) * (p - q);
    }
    return sum > 0 ? sum : 0; // Rounding may leave a little below zero.
}

static double mean_square_error(const float *source, const float *computed, size_t count)
{
    double error = 0, norm = 0;

    for (size_t i = 0; i < count; i++) {
        const double difference = (double)computed[i] - (double)source[i];

        error += difference * difference;
        norm += (double)source[i] * (double)source[i];
    }
    return error == 0 ? 0 : error / norm;
}

static struct distance
measure(const struct judge *judge, const float *source, const float *computed, size_t count)
{
    struct distance distance = {.is_finite = 1};

    for (size_t i = 0; i < count; i++) {
        const double difference = fabs((double)computed[i] - (double)source[i]);

        if (!isfinite(computed[i])) {
            distance.is_finite = 0;
            return distance;
        }
        distance.logit_spread = fmax(distance.logit_spread, difference);
    }
    if (!judge->has_logits) {
        distance.value = mean_square_error(source, computed, count);
        return distance;
    }
    distance.value = divergence(source, computed, count);
    distance.choice = (int64_t)largest(computed, count);
    distance.choice_deficit =
        (double)source[largest(source, count)] - (double)source[distance.choice];
    return distance;
}

// -- Judging -----------------------------------------------------------------------------------

// One session's run over the prompts, against the source.
struct judge_trial {
    const struct judge *judge;
    const struct truth *truth;
    const struct judge_prompt *prompt;
    size_t prompt_index;
    int64_t steps; // Of the prompt; 0: all.
    int64_t step;  // At hand.
    size_t at;     // In the truth.
    struct judge_result *result;
    double logit_spread;
};

static void diverge(struct judge_trial *trial, int64_t step, const char *what)
{
    struct judge_result *result = trial->result;

    if (result->agrees) {
        result->prompt = trial->prompt_index;
        result->step = step;
        (void)snprintf(result->sentence, sizeof(result->sentence), "prompt %zu, step %lld: %s",
                       trial->prompt_index + 1, (long long)step,
                       what); // Cut where it is too long.
    }
    result->agrees = 0;
}

static tapml_status visit_trial(void *user, int64_t step, const float *values, size_t count)
{
    struct judge_trial *trial = user;
    struct judge_result *result = trial->result;
    char what[160];

    if (trial->at + count > trial->truth->count) {
        return status_fail(TAPML_INTERNAL, "an output has more values than on the source");
    }
    const struct distance distance =
        measure(trial->judge, trial->truth->values + trial->at, values, count);

    trial->at += count;
    trial->step = step + 1;
    if (!distance.is_finite) {
        result->margin = INFINITY;
        result->distance = INFINITY;
        diverge(trial, step, "the outputs hold NaN or infinity, the source's do not");
        return TAPML_OK;
    }
    trial->logit_spread = fmax(trial->logit_spread, distance.logit_spread);
    result->distance = fmax(result->distance, distance.value);
    result->margin = fmax(result->margin, distance.value / trial->judge->limits.distance);
    if (distance.value > trial->judge->limits.distance) {
        (void)snprintf(what, sizeof(what), "%s %.3g, limit %.3g",
                       trial->judge->has_logits ? "KL divergence of the logits" : "NMSE",
                       distance.value, trial->judge->limits.distance);
        diverge(trial, step, what);
    }
    if (distance.choice_deficit > trial->judge->limits.tie) {
        result->divergences++;
        (void)snprintf(what, sizeof(what),
                       "the next id is %lld, which the source has %.3g below its own",
                       (long long)distance.choice, distance.choice_deficit);
        diverge(trial, step, what);
    }
    return TAPML_OK;
}

// What a run has found that a kill by somebody else has ended is forgotten.
static tapml_status
run_persistently(const struct judge *judge, struct session *session, struct judge_trial *trial)
{
    const struct judge_trial fresh = *trial;
    const struct judge_result before = *trial->result;
    struct persist persist;
    tapml_status status = TAPML_OK;

    session_persist(session, &persist);
    do {
        *trial = fresh;
        *trial->result = before;
        status = run_prompt(judge, session, trial->prompt, trial->steps, visit_trial, trial);
    } while (persist_again(&persist, &status));
    return status;
}

static tapml_status
try_prompt(struct judge *judge, struct session *session, size_t index, struct judge_trial *trial)
{
    struct truth spare = {0};

    TAPML_TRY(find_truth(judge, index, &spare, &trial->truth));
    trial->prompt = &judge->options.prompts[index];
    trial->prompt_index = index;
    trial->at = 0;
    trial->step = 0;
    const tapml_status status = run_persistently(judge, session, trial);

    alloc_free(spare.values);
    if (status == TAPML_OK || status_ends_all(status)) {
        return status;
    }
    trial->result->margin = INFINITY;
    diverge(trial, trial->step, status_message());
    return TAPML_OK;
}

static tapml_status run_trial(struct judge *judge,
                              struct session *session,
                              size_t prompt_count,
                              judge_progress_fn progress,
                              void *user,
                              struct judge_trial *trial)
{
    if (prompt_count > judge->options.prompt_count) {
        prompt_count = judge->options.prompt_count;
    }
    *trial->result = (struct judge_result){.agrees = 1};
    for (size_t i = 0; i < prompt_count; i++) {
        TAPML_TRY(try_prompt(judge, session, i, trial));
        if (progress != NULL) {
            TAPML_TRY(progress(user, i + 1, prompt_count));
        }
    }
    return TAPML_OK;
}

// Of the session that is judged, and of the source where it has to run for that.
static uint64_t count_executions(const struct judge *judge, const struct session *session)
{
    return session_executions(session) + session_executions(judge->options.source);
}

static void describe_agreement(const struct judge *judge, struct judge_result *result)
{
    if (result->agrees) {
        (void)snprintf(result->sentence, sizeof(result->sentence), "%s at most %.3g, limit %.3g",
                       judge->has_logits ? "equal top-1 at every step, KL divergence" : "NMSE",
                       result->distance, judge->limits.distance);
    }
}

tapml_status judge_run_prompt(struct judge *judge,
                              struct session *session,
                              size_t prompt,
                              int64_t steps,
                              struct judge_result *out_result)
{
    struct judge_trial trial = {.judge = judge, .result = out_result, .steps = steps};
    const uint64_t before = count_executions(judge, session);

    *out_result = (struct judge_result){.agrees = 1};
    TAPML_TRY(try_prompt(judge, session, prompt, &trial));
    out_result->executions = count_executions(judge, session) - before;
    describe_agreement(judge, out_result);
    return TAPML_OK;
}

tapml_status judge_run(struct judge *judge,
                       struct session *session,
                       size_t prompt_count,
                       judge_progress_fn progress,
                       void *user,
                       struct judge_result *out_result)
{
    struct judge_trial trial = {.judge = judge, .result = out_result};
    const uint64_t before = count_executions(judge, session);

    TAPML_TRY(run_trial(judge, session, prompt_count, progress, user, &trial));
    out_result->executions = count_executions(judge, session) - before;
    describe_agreement(judge, out_result);
    return TAPML_OK;
}

tapml_status judge_calibrate(struct judge *judge,
                             struct session *variant,
                             size_t prompt_count,
                             struct judge_limits *out_limits)
{
    struct judge_result result;
    struct judge_trial trial = {.judge = judge, .result = &result};

    TAPML_TRY(run_trial(judge, variant, prompt_count, NULL, NULL, &trial));
    *out_limits = (struct judge_limits){
        .distance = isfinite(result.distance) ? LIMIT_FACTOR * result.distance : 0,
        .tie = LIMIT_FACTOR * trial.logit_spread};
    return TAPML_OK;
}

void judge_set_limits(struct judge *judge, const struct judge_limits *limits, size_t count)
{
    judge->limits = (struct judge_limits){.distance = distance_floor};
    for (size_t i = 0; i < count; i++) {
        judge->limits.distance = fmax(judge->limits.distance, limits[i].distance);
        judge->limits.tie = fmax(judge->limits.tie, limits[i].tie);
    }
}
