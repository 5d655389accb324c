// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "ground.h"
#include "run/plan_seeking.h"

#include <math.h>
#include <string.h>

static struct ground_fixture fixture;
static struct store *store;
static size_t told;

static void begin(void)
{
    short_setup_open(&fixture.run);
    ground_replay(&fixture.run);
    SHORT_MUST(ground_open(&fixture));
    SHORT_MUST(store_open(scratch_path(&fixture.run.scratch, "trials.tapmlrun"), 1, &store));
    told = 0;
}

static void end(void)
{
    store_close(store);
    ground_close(&fixture);
}

TestSuite(plan_seeking, .init = begin, .fini = end, .timeout = 120);

static tapml_status tell(void *user, size_t done, size_t all)
{
    (void)user;
    cr_expect_leq(done, all);
    told++;
    return TAPML_OK;
}

static struct plan_seeking_options options_of(enum plan_objective objective)
{
    return (struct plan_seeking_options){.ground = &fixture.ground,
                                         .store = store,
                                         .objective = objective,
                                         .trials = 4,
                                         .slack = 0.1,
                                         .bound = 0.01,
                                         .progress = tell};
}

Test(plan_seeking, what_was_measured_is_not_run_again)
{
    const struct plan_seeking_options options = options_of(PLAN_LATENCY);
    struct plan_sought first, again;

    SHORT_MUST(plan_seeking_run(&options, &first));
    cr_assert_not_null(first.search.best);
    cr_expect_gt(first.search.best->value, 0);
    cr_expect_eq(first.search.measured_count, 4);
    cr_expect_geq(first.runs, 4);
    cr_expect_gt(told, 0);
    cr_expect_eq(first.context, 16);
    SHORT_MUST(plan_seeking_run(&options, &again));
    cr_expect_eq(again.runs, 0);
    cr_expect_eq(again.openings, 0);
    cr_expect_float_eq(again.search.best->value, first.search.best->value, 1e-9);
}

Test(plan_seeking, what_it_lacks_is_said)
{
    const struct plan_seeking_options precision = options_of(PLAN_PRECISION);
    static const char *const builders[] = {"absent"};
    struct plan_seeking_options built = options_of(PLAN_LATENCY);
    struct plan_sought sought;

    cr_expect_eq(plan_seeking_run(&precision, &sought), TAPML_UNAVAILABLE);
    cr_expect_not_null(strstr(status_message(), "no target of the run has reduced activations"));
    built.builders = builders;
    built.builder_count = 1;
    cr_expect_eq(plan_seeking_run(&built, &sought), TAPML_NOT_FOUND);
    cr_expect_not_null(strstr(status_message(), "--builder"), "%s", status_message());
}
