// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/scratch.h"
#include "run/tuning_trials.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

static const int64_t speeds[] = {1, 2, 3};
static struct knob knob = {.name = "speed", .about = "", .values = speeds, .count = 3};
static unsigned char legal[] = {7};
static const struct knob_space space = {
    .shape_class = "n=8", .knobs = &knob, .count = 1, .size = 3, .legal = legal, .legal_count = 3};

static struct scratch scratch;
static struct arena *arena;
static size_t calls;
static tapml_status ends;

static void begin(void)
{
    scratch_make(&scratch);
    cr_assert_eq(setenv("XDG_CACHE_HOME", scratch.folder, 1), 0);
    arena = arena_create();
}

static void end(void)
{
    arena_destroy(arena);
    scratch_remove(&scratch);
}

TestSuite(tuning_trials, .init = begin, .fini = end);

// Speed 3 is the fastest, and wrong.
static tapml_status
attempt(void *user, uint32_t number, const char *values, struct tuning_trial_outcome *out_outcome)
{
    calls++;
    cr_expect_eq(values[strlen(values) - 1], '1' + (char)number);
    out_outcome->time_ns = 1000 / (number + 1);
    if (number == 2) {
        (void)snprintf(out_outcome->wrong, sizeof(out_outcome->wrong), "y[0] is 2");
    }
    return TAPML_OK;
}

static tapml_status progress(void *user, size_t now, const char *values, const char *outcome)
{
    cr_expect_eq(now, calls);
    cr_expect_eq(strncmp(outcome, "wrong: ", 7) == 0, strcmp(values, "speed=3") == 0);
    return ends;
}

static tapml_status run(size_t trials, struct tuning_result *out_result)
{
    return tuning_trials_run(&(struct tuning_trials_options){.key = {.component = "fast",
                                                                     .device = "0",
                                                                     .driver = "x",
                                                                     .op = "tapml.silu",
                                                                     .digest = "0f",
                                                                     .shape_class = "n=8",
                                                                     .version = 1},
                                                             .space = &space,
                                                             .trials = trials,
                                                             .attempt = attempt,
                                                             .progress = progress},
                             arena, out_result);
}

Test(tuning_trials, the_fastest_that_is_right_wins)
{
    struct tuning_result result;

    MUST(run(9, &result));
    cr_expect_eq(result.tried, 3);
    cr_expect_eq(result.now, 3);
    cr_expect_eq(result.wrong, 1);
    cr_expect_str_eq(result.own, "speed=1");
    cr_expect_str_eq(result.winner, "speed=2");
    cr_expect_eq(result.own_ns, 1000);
    cr_expect_eq(result.best_ns, 500);
}

Test(tuning_trials, another_start_tries_nothing_twice)
{
    struct tuning_result result;

    ends = TAPML_CANCELLED;
    cr_expect_eq(run(9, &result), TAPML_CANCELLED);
    cr_expect_eq(calls, 1);
    ends = TAPML_OK;
    calls = 0;
    MUST(run(2, &result));
    cr_expect_eq(calls, 1);
    calls = 0;
    MUST(run(9, &result));
    cr_expect_eq(calls, 1);
    cr_expect_eq(result.tried, 3);
    cr_expect_str_eq(result.winner, "speed=2");
}
