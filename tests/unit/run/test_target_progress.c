// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/short_setup.h"
#include "run/target_health.h"
#include "run/target_progress.h"
#include "verify/verdict.h"

static struct short_setup run;
static struct place_usage usage;
static struct target_progress telling;

static void begin(void)
{
    short_setup_open(&run);
    telling = (struct target_progress){.name = "other", .usage = &usage};
    place_usage_begin(&usage, run.store, run.setup.places[1], &run.config, 0);
    SHORT_MUST(
        target_health_create(run.store, run.setup.registry, run.setup.places[1], &telling.health));
}

static void end(void)
{
    target_health_destroy(telling.health);
    short_setup_close(&run);
}

TestSuite(target_progress, .init = begin, .fini = end);

Test(target_progress, a_phase_has_the_name_of_the_target)
{
    target_progress_begin(&telling, "replay on", "cases");
    cr_expect_str_eq(telling.progress.phase, "replay on other");
    cr_expect_str_eq(telling.progress.unit, "cases");
    SHORT_MUST(target_progress_limits(&telling, 1, 2));
}

Test(target_progress, the_last_kept_case_ends_the_account_of_replays)
{
    const struct verdict_list verdicts = {.count = 0};

    target_progress_begin(&telling, "replay on", "cases");
    SHORT_MUST(place_usage_begin_cases(&usage, &verdicts));
    SHORT_MUST(target_progress_cases(&telling, 1, 2));
    cr_expect_eq(usage.end_ns, 0);
    SHORT_MUST(target_progress_cases(&telling, 2, 2));
    const uint64_t end_ns = usage.end_ns;

    cr_expect_gt(end_ns, 0);
    SHORT_MUST(target_progress_derived(&telling, 1, 2));
    cr_expect_str_eq(telling.progress.phase, "derive on other");
    cr_expect_eq(telling.progress.skipped, 1);
    SHORT_MUST(target_progress_derived(&telling, 2, 2));
    cr_expect_eq(usage.end_ns, end_ns);
}

// A search judges the prompts of its step again and again.
Test(target_progress, prompts_of_a_step_are_counted_behind_those_before)
{
    target_progress_begin(&telling, "offload to", "prompts checked");
    SHORT_MUST(target_progress_step(
        &telling, &(struct loop_progress){.step = "move silu", .done = 3, .all = 8, .skipped = 2}));
    cr_expect_str_eq(telling.progress.phase, "move silu on other");
    cr_expect_eq(telling.progress.skipped, 2);
    SHORT_MUST(target_progress_judged(&telling, 2, 2));
    SHORT_MUST(target_progress_judged(&telling, 20, 20));
    cr_expect_eq(telling.judged, 3);
    cr_expect_eq(telling.judged_all, 8);
}
