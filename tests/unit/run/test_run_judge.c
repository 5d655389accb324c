// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "exec/reduced.h"
#include "harness/short_setup.h"
#include "run/carving.h"
#include "run/run_judge.h"

static struct short_setup run;
static struct run_judge judge;

static tapml_status open_judge(void)
{
    return run_judge_open(&(struct run_judge_options){.setup = &run.setup,
                                                      .config = &run.config,
                                                      .store = run.store,
                                                      .prompts = &run.prompts},
                          &judge);
}

static void open_carved(void)
{
    short_setup_open(&run);
    SHORT_MUST(carving_run(&run.config, &run.setup, run.store, &run.prompts, NULL));
    SHORT_MUST(open_judge());
}

static void close_all(void)
{
    run_judge_close(&judge);
    short_setup_close(&run);
}

TestSuite(run_judge, .fini = close_all);

Test(run_judge, has_what_the_source_answered)
{
    open_carved();
    cr_assert_eq(judge.prompts[0].greedy_count, 3);
    cr_assert_eq(judge.prompts[0].greedy[0], 559, "what expected.json has behind the prompt");
    cr_assert_eq(judge.prompts[0].count, (int64_t)run.prompts.items[0].count);
    cr_assert_geq(judge.device_count, 3);
    cr_assert_gt(judge.executions, 0);
}

Test(run_judge, limits_are_found_in_the_store_the_second_time)
{
    open_carved();
    const double limit = judge_distance_limit(judge.judge);

    run_judge_close(&judge);
    SHORT_MUST(open_judge());
    cr_assert_eq(judge.executions, 0);
    cr_assert_eq(judge_distance_limit(judge.judge), limit);
}

Test(run_judge, nobody_judges_himself)
{
    struct backend *target = NULL;

    open_carved();
    for (size_t i = 0; i < judge.device_count; i++) {
        judge.devices[i].limits[ACTIVATION_F32].distance =
            i == 1 ? 0.5 : 0.25; // As if the second departed most.
    }
    SHORT_MUST(run_judge_set_limits(&judge, NULL));
    const double all = judge_distance_limit(judge.judge);

    SHORT_MUST(registry_open(run.setup.registry, judge.devices[1].name, &target));
    SHORT_MUST(run_judge_set_limits(&judge, target));
    cr_assert_eq(judge_distance_limit(judge.judge), all / 2);
    backend_release(target);
}

Test(run_judge, a_session_over_the_source_and_another_place)
{
    struct session *session = NULL;
    struct plan *plan = NULL;

    open_carved();
    SHORT_MUST(plan_create(&plan));
    SHORT_MUST(plan_add(plan, "* -> other", "test"));
    SHORT_MUST(run_judge_session(&judge, run.setup.places[1], plan, &session));
    session_destroy(session);
    cr_assert_neq(run_judge_session(&judge, NULL, plan, &session), TAPML_OK, "no such place");
    plan_destroy(plan);
}

Test(run_judge, a_reduced_target_has_limits_of_its_own)
{
    struct backend *target = NULL;
    struct reduced *reduced = NULL;

    open_carved();
    const double limit = judge_distance_limit(judge.judge);

    run_judge_close(&judge);
    run.config.targets[0].activation = ACTIVATION_F16;
    SHORT_MUST(open_judge());
    cr_assert_gt(judge.executions, 0, "those in f16 were not known");
    SHORT_MUST(registry_open(run.setup.registry, "reference:f16-rounded", &target));
    SHORT_MUST(reduced_create(target, ACTIVATION_F16, &reduced));
    SHORT_MUST(run_judge_set_limits(&judge, reduced_backend(reduced)));
    cr_assert_gt(judge_distance_limit(judge.judge), 10 * limit);
    SHORT_MUST(run_judge_set_limits(&judge, target));
    cr_assert_eq(judge_distance_limit(judge.judge), limit);
    run_judge_close(&judge);
    SHORT_MUST(open_judge());
    cr_assert_eq(judge.executions, 0, "both are in the store");
    reduced_destroy(reduced);
    backend_release(target);
}
