// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/arena.h"
#include "harness/short_setup.h"
#include "run/carving.h"
#include "run/ranking.h"
#include "run/run_metadata.h"
#include "run/target_metadata.h"
#include "store/result.h"
#include "store/step.h"

#include <math.h>
#include <string.h>

static struct short_setup run;
static struct arena *arena;

static void begin(void)
{
    short_setup_open(&run);
    SHORT_MUST(run_metadata_settle(run.store, &run.config, &run.setup, &run.prompts));
    SHORT_MUST(carving_run(&run.config, &run.setup, run.store, &run.prompts, NULL));
    SHORT_MUST(target_metadata_settle_cases(
        &(struct run_judge_options){.setup = &run.setup, .config = &run.config, .store = run.store},
        run.setup.places[1]));
    arena = arena_create();
    cr_assert_not_null(arena);
}

static void end(void)
{
    arena_destroy(arena);
    short_setup_close(&run);
}

TestSuite(ranking, .init = begin, .fini = end, .timeout = 60);

static struct ranking_options options_of(enum ranking_over over, enum ranking_by by)
{
    return (struct ranking_options){.registry = run.setup.registry,
                                    .store = run.store,
                                    .checkpoint = model_checkpoint(run.setup.model),
                                    .targets = &run.setup.places[1],
                                    .target_count = 1,
                                    .over = over,
                                    .by = by};
}

static struct ranking make(const struct ranking_options *options)
{
    struct ranking made;

    SHORT_MUST(ranking_make(options, arena, &made));
    return made;
}

static size_t count_results(void)
{
    size_t count = 0;

    SHORT_MUST(result_count(run.store, "other", &count));
    return count;
}

Test(ranking, a_budget_is_replayed_once_and_kept)
{
    struct ranking_options options = options_of(RANKING_OPS, RANKING_FAILURES);

    options.budget = (struct case_budget){BUDGET_CASES, 20};
    const struct ranking first = make(&options), again = make(&options);

    cr_expect_eq(first.contest.race.spent, 20);
    cr_expect_eq(first.contest.spent.runs, 20);
    cr_expect_eq(first.contest.predicted.runs, 20);
    cr_expect_eq(count_results(), 20);
    cr_expect_eq(again.contest.race.spent, 20);
    cr_expect_eq(again.contest.spent.runs, 0);
    cr_expect_eq(again.contest.predicted.runs, 0);
    cr_expect_eq(first.contest.order[0], again.contest.order[0]);
    // A larger budget adds to it.
    options.budget.amount = 30;
    cr_expect_leq(make(&options).contest.spent.runs, 30);
    cr_expect_leq(count_results(), 50);
}

Test(ranking, all_cases_are_judged_without_a_budget)
{
    const struct ranking_options options = options_of(RANKING_OPS, RANKING_TIME);
    const struct ranking made = make(&options);
    size_t cases = 0;

    for (size_t i = 0; i < made.contest.race.arm_count; i++) {
        cr_expect_eq(made.arms[i].race->taken, made.arms[i].race->count);
        cr_expect_eq(made.arms[i].failed, 0, "%s", made.arms[i].name);
        cr_expect_gt(race_value(made.arms[i].race), 0, "%s", made.arms[i].name);
        cases += made.arms[i].race->count;
    }
    cr_expect_eq(made.contest.race.method, RACE_EXHAUSTIVE);
    cr_expect_eq(count_results(), cases);
    for (size_t i = 1; i < made.contest.race.arm_count; i++) {
        cr_expect_geq(race_value(made.arms[made.contest.order[i - 1]].race),
                      race_value(made.arms[made.contest.order[i]].race));
    }
    cr_expect_gt(made.contest.spent.seconds, 0);
}

Test(ranking, arms_are_named_by_what_is_ranked)
{
    const struct ranking_options targets = options_of(RANKING_TARGETS, RANKING_MARGIN);
    const struct ranking_options backends = options_of(RANKING_BACKENDS, RANKING_MARGIN);
    const struct ranking first = make(&targets), second = make(&backends);

    cr_assert_eq(first.contest.race.arm_count, 1);
    cr_expect_str_eq(first.arms[0].name, "other");
    // Of one arm it is known at once which one is the worst.
    cr_expect_eq(first.contest.race.is_settled, 1);
    cr_expect_lt(first.contest.race.spent, first.arms[0].race->count);
    cr_assert_eq(second.contest.race.arm_count, 1);
    cr_expect_str_eq(second.arms[0].name, "reference");
    cr_expect_eq(second.contest.spent.runs, 0);
}

Test(ranking, new_results_begin_the_steps_anew_and_known_ones_do_not)
{
    struct ranking_options options = options_of(RANKING_OPS, RANKING_FAILURES);
    struct step_row row = {
        .target = "other", .step = "final", .verdict = "kept", .reason = "", .plan = ""};

    options.budget = (struct case_budget){BUDGET_CASES, 15};
    SHORT_MUST(step_add(run.store, &row));
    (void)make(&options);
    cr_expect_eq(step_find(run.store, "other", "final", arena, &row), TAPML_NOT_FOUND);
    SHORT_MUST(step_add(run.store, &row));
    (void)make(&options);
    cr_expect_eq(step_find(run.store, "other", "final", arena, &row), TAPML_OK);
}

Test(ranking, a_time_is_measured_and_ends_it)
{
    struct ranking_options options = options_of(RANKING_OPS, RANKING_FAILURES);

    options.budget = (struct case_budget){BUDGET_SECONDS, 1e-6};
    const struct ranking made = make(&options);

    cr_expect_eq(made.contest.is_out_of_time, 1);
    cr_expect_eq(made.contest.race.spent, 0);
    cr_expect_leq(made.contest.spent.runs, 4 * made.contest.race.arm_count);
}

static tapml_status refuse(void *user, size_t done, size_t all)
{
    (void)user;
    return done == 3 && all > 0 ? status_fail(TAPML_CANCELLED, "enough") : TAPML_OK;
}

Test(ranking, what_was_judged_before_an_interruption_stays)
{
    struct ranking_options options = options_of(RANKING_OPS, RANKING_FAILURES);
    struct ranking made;

    options.progress = refuse;
    cr_assert_eq(ranking_make(&options, arena, &made), TAPML_CANCELLED);
    cr_expect_not_null(strstr(status_message(), "enough"));
    cr_expect_eq(count_results(), 3, "%zu", count_results());
}
