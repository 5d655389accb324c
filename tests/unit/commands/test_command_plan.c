// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/command.h"
#include "harness/short_run.h"

#include <string.h>

static struct scratch scratch;
static char ini[2 * SCRATCH_PATH], trials[2 * SCRATCH_PATH], plan[2 * SCRATCH_PATH];

static void begin(void)
{
    scratch_make(&scratch);
    (void)snprintf(ini, sizeof(ini), "%s", short_run_write_text(&scratch, ""));
    (void)snprintf(trials, sizeof(trials), "%s", scratch_path(&scratch, "trials.tapmlrun"));
    (void)snprintf(plan, sizeof(plan), "%s", scratch_path(&scratch, "run/plan-best.txt"));
}

static void end(void)
{
    scratch_remove(&scratch);
}

TestSuite(command_plan, .init = begin, .fini = end, .timeout = 120);

Test(command_plan, a_plan_is_found_shown_and_compared)
{
    char text[2 * SCRATCH_PATH];

    (void)snprintf(text, sizeof(text), "%s", scratch_source("models/tiny/prompts.txt"));
    printed_expect(PRINTED(command_run_main, "--config", ini), OUTCOME_OK, "");
    printed_expect(PRINTED(command_plan_main, "search", "--config", ini, "--text", text,
                           "--context", "16", "--chunks", "2", "--trials", "3", "--store", trials,
                           "--out", plan),
                   OUTCOME_OK, "best: ");
    printed_expect(PRINTED(command_plan_main, "show", plan), OUTCOME_OK, "a token: predicted ");
    printed_expect(PRINTED(command_plan_main, "show", plan, "--json"), OUTCOME_OK, "\"places\": [");
    printed_expect(PRINTED(command_plan_main, "diff", plan, plan), OUTCOME_OK, "nothing moves");
}

Test(command_plan, what_is_asked_is_checked)
{
    printed_expect(PRINTED(command_plan_main, "--help"), OUTCOME_OK, "plan search --config FILE");
    printed_expect(PRINTED(command_plan_main, "--json"), OUTCOME_USAGE,
                   "expected plan search, plan show");
    printed_expect(PRINTED(command_plan_main, "find"), OUTCOME_USAGE, "found 'find'");
    printed_expect(PRINTED(command_plan_main, "search"), OUTCOME_USAGE, "no run: give --config");
    printed_expect(PRINTED(command_plan_main, "search", "--config", ini, "--bound", "1"),
                   OUTCOME_USAGE, "--bound is for --by precision");
    printed_expect(
        PRINTED(command_plan_main, "search", "--config", ini, "--by", "memory", "--slack", "x"),
        OUTCOME_USAGE, "--slack is 'x', expected a number from 0 to 100");
    printed_expect(
        PRINTED(command_plan_main, "search", "--config", ini, "--by", "precision", "--bound", "0"),
        OUTCOME_USAGE, "--bound is '0', expected a number above 0");
    printed_expect(PRINTED(command_plan_main, "show", "x", "--trials", "3"), OUTCOME_USAGE,
                   "--trials is for plan search");
    printed_expect(PRINTED(command_plan_main, "diff", "x"), OUTCOME_USAGE,
                   "expected: tapml-host plan diff FILE FILE");
    printed_expect(PRINTED(command_plan_main, "search", "--config", ini), OUTCOME_USAGE,
                   "has no run: carve one first");
}
