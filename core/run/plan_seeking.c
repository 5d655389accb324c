// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/plan_seeking.h"

#include "base/arena.h"
#include "choose/plan_rules.h"
#include "plugin/policy.h"
#include "run/trials.h"

#include <inttypes.h>
#include <math.h>

// Chunks of a plan at first, and of the best few at the end. A divergence of one chunk says less
// than a time does.
enum { CHUNKS = 2, CHUNKS_LAST = 8, CHUNKS_OF_PRECISION = 4, POLICIES_MOST = 16 };

static const double NOISE = 0.08; // Of a time that is measured on one chunk.

struct seeking {
    const struct plan_seeking_options *options;
    struct plan_ground *ground;
    struct arena *arena;
    struct contender_session *kept; // What is open between rounds.
    struct policy *policies[POLICIES_MOST];
    struct plan_sought sought;
    size_t numbered; // Plans that were named for messages.
    size_t done;     // Plans whose first chunks were asked for.
};

// -- Measuring ---------------------------------------------------------------------------------

static tapml_status
make_contender(struct seeking *seeking, const struct plan_trial *trial, struct contender *out)
{
    struct text rules;

    text_init(&rules);
    tapml_status status = plan_rules_write(&seeking->ground->question, trial->places, &rules);

    *out = (struct contender){.name = arena_format(seeking->arena, "plan %zu", ++seeking->numbered),
                              .plan = seeking->ground->plan,
                              .rules = status == TAPML_OK ? arena_text(seeking->arena, rules.data)
                                                          : NULL};
    text_release(&rules);
    if (status == TAPML_OK && (out->name == NULL || out->rules == NULL)) {
        status = status_no_memory();
    }
    return status;
}

static void take_result(const struct trials_result *trials,
                        const struct contender *contenders,
                        struct plan_trial *const *measured)
{
    for (size_t i = 0; i < trials->contest.race.arm_count; i++) {
        const struct trials_arm *arm = &trials->arms[i];
        struct plan_trial *trial = measured[arm->contender - contenders];

        trial->failed = arm->failed;
        trial->chunks = arm->race->judged;
        trial->value = trial->failed == NULL ? fabs(trials_value(arm)) : NAN; // No -0.
        trial->spread = trials_spread(trials, arm);
    }
    for (size_t i = 0; i < trials->left_out_count; i++) {
        measured[trials->left_out[i].contender - contenders]->failed = trials->left_out[i].why;
    }
}

static tapml_status show(void *user, size_t done, size_t all)
{
    struct seeking *seeking = user;
    const struct plan_seeking_options *options = seeking->options;

    return options->progress != NULL
               ? options->progress(options->user, seeking->done, options->trials)
               : TAPML_OK;
}

static tapml_status
measure(void *user, struct plan_trial *const *measured, size_t count, size_t chunks)
{
    struct seeking *seeking = user;
    const int is_last = chunks > seeking->sought.input.chunks;
    struct contender *contenders = arena_array(seeking->arena, count, sizeof(*contenders));
    struct trials_options options = {
        .contender = {.program = seeking->ground->from.program,
                      .options = &seeking->ground->options,
                      .measure = seeking->options->objective == PLAN_PRECISION ? CONTENDER_KL
                                                                               : CONTENDER_SPEED},
        .items = contenders,
        .count = count,
        .store = seeking->options->store,
        .kept = &seeking->kept,
        // Halving would leave out what is slow, whatever else it is good for.
        .method =
            is_last && seeking->options->objective == PLAN_LATENCY ? RACE_HALVING : RACE_UNIFORM,
        .budget = {.kind = BUDGET_CASES, .amount = (double)(count * chunks)},
        .progress = show,
        .user = seeking};
    struct trials_result trials;

    if (contenders == NULL) {
        return status_no_memory();
    }
    for (size_t i = 0; i < count; i++) {
        TAPML_TRY(make_contender(seeking, measured[i], &contenders[i]));
    }
    seeking->done += is_last ? 0 : count;
    TAPML_TRY(trials_make(&options, seeking->arena, &trials));
    take_result(&trials, contenders, measured);
    seeking->sought.runs += trials.contest.spent.runs;
    seeking->sought.seconds += trials.contest.spent.seconds;
    seeking->sought.openings += trials.openings;
    seeking->sought.openings_s += trials.openings_s;
    seeking->sought.context = trials.context;
    return TAPML_OK;
}

// -- What is searched --------------------------------------------------------------------------

static tapml_status open_policies(struct seeking *seeking)
{
    const struct plan_seeking_options *options = seeking->options;

    if (options->builder_count > POLICIES_MOST) {
        return status_fail(TAPML_INVALID, "expected at most %d builders, found %zu", POLICIES_MOST,
                           options->builder_count);
    }
    for (size_t i = 0; i < options->builder_count; i++) {
        const tapml_status status =
            policy_create(seeking->ground->setup.registry, options->builders[i], POLICY_BUILD,
                          &seeking->policies[i]);

        if (status != TAPML_OK) {
            return status_explain(status, "--builder");
        }
    }
    return TAPML_OK;
}

static tapml_status check_reduced(const struct plan_ground *ground)
{
    for (uint32_t i = 1; i < ground->question.n_places; i++) {
        if (ground->is_reduced[i]) {
            return TAPML_OK;
        }
    }
    return status_fail(TAPML_UNAVAILABLE,
                       "no target of the run has reduced activations, so that nothing is kept "
                       "wider: set activations = f16 in its section, and run it");
}

static tapml_status make_input(struct seeking *seeking)
{
    const struct plan_seeking_options *options = seeking->options;
    struct plan_ground *ground = seeking->ground;
    struct plan_search_input *input = &seeking->sought.input;
    const int is_precision = options->objective == PLAN_PRECISION;

    if (is_precision) {
        TAPML_TRY(check_reduced(ground));
        TAPML_TRY(plan_ground_measure_divergence(ground));
    }
    *input =
        (struct plan_search_input){.question = &ground->question,
                                   .objective = options->objective,
                                   .calls = {.look = plan_ground_look,
                                             .look_user = ground,
                                             .measure = measure,
                                             .user = seeking},
                                   .columns = &ground->columns,
                                   .noise = NOISE,
                                   .trials = options->trials,
                                   .chunks = is_precision ? CHUNKS_OF_PRECISION : CHUNKS,
                                   .chunks_last = is_precision ? CHUNKS_OF_PRECISION : CHUNKS_LAST,
                                   .memory_bytes = options->memory_bytes,
                                   .slack = options->slack,
                                   .bound = options->bound,
                                   .is_reduced = ground->is_reduced};
    TAPML_TRY(plan_units_find(&ground->question, seeking->arena, &input->units));
    return plan_build_all(&ground->question, seeking->policies, options->builder_count,
                          seeking->arena, &input->builds);
}

static tapml_status seek(struct seeking *seeking)
{
    TAPML_TRY(plan_ground_check(seeking->ground, seeking->options->memory_bytes));
    TAPML_TRY(open_policies(seeking));
    TAPML_TRY(make_input(seeking));
    return plan_search_run(&seeking->sought.input, seeking->arena, &seeking->sought.search);
}

tapml_status plan_seeking_run(const struct plan_seeking_options *options,
                              struct plan_sought *out_sought)
{
    struct seeking seeking = {
        .options = options, .ground = options->ground, .arena = options->ground->arena};
    const tapml_status status = seek(&seeking);

    contender_close(seeking.kept);
    for (size_t i = 0; i < POLICIES_MOST; i++) {
        policy_destroy(seeking.policies[i]);
    }
    if (status == TAPML_OK) {
        *out_sought = seeking.sought;
    }
    return status;
}
