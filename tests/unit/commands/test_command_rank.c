// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/command.h"
#include "harness/short_run.h"

#include <jansson.h>
#include <string.h>

static struct scratch scratch;
static char ini[2 * SCRATCH_PATH];

// A run that has carved all calls, and has replayed none: then its file gets another target, with
// faults.
static void begin(void)
{
    static const char *const prompts = "ids: 5 17 3\nids: 7 9 21 40\n";

    scratch_make(&scratch);
    (void)snprintf(ini, sizeof(ini), "%s", short_run_write(&scratch, "[select]\nbudget = 1\n"));
    printed_expect(PRINTED(command_run_main, "--config", ini), OUTCOME_OK, "not run: ");
    (void)short_run_write_of(&scratch, "tests/data/models/llama", prompts,
                             "[target.gpu]\nbackend = reference:f64\n[fault.1]\ntarget = gpu\n"
                             "op = silu\nkind = scale 1.5\n"); // Under the same name.
}

static void end(void)
{
    scratch_remove(&scratch);
}

TestSuite(command_rank, .init = begin, .fini = end, .timeout = 110);

// The document of a question, which the caller releases.
static json_t *ask(char *over, char *by, char *budget)
{
    struct printed said = PRINTED(command_rank_main, "--config", ini, "--over", over, "--by", by,
                                  "--budget", budget, "--json");
    json_t *made = json_loads(said.out, 0, NULL);

    cr_assert_eq(said.outcome, OUTCOME_OK, "%s%s", said.out, said.err);
    cr_assert_not_null(made, "%s", said.out);
    printed_release(&said);
    return made;
}

static const char *first_of(const json_t *made)
{
    return json_string_value(
        json_object_get(json_array_get(json_object_get(made, "ranking"), 0), "name"));
}

static json_int_t replays_of(const json_t *made, const char *which)
{
    return json_integer_value(json_object_get(json_object_get(made, which), "replays"));
}

Test(command_rank, the_worst_operator_is_found_and_asking_again_costs_nothing)
{
    json_t *made = ask("op", "failures", "40%"), *again = ask("op", "failures", "40%");

    cr_expect_str_eq(first_of(made), "tapml.silu");
    cr_expect_gt(replays_of(made, "spent"), 0);
    // One of them has been replayed by the run on 'other'.
    cr_expect_leq(replays_of(made, "spent"), replays_of(made, "predicted"));
    cr_expect_str_eq(first_of(again), "tapml.silu");
    cr_expect_eq(replays_of(again, "predicted"), 0);
    cr_expect_eq(replays_of(again, "spent"), 0);
    json_decref(made);
    json_decref(again);
}

Test(command_rank, targets_and_backends_are_ranked)
{
    json_t *targets = ask("target", "margin", "80%"), *backends = ask("backend", "time", "60");

    cr_expect_str_eq(first_of(targets), "gpu");
    cr_expect_eq(json_array_size(json_object_get(targets, "ranking")), 2);
    cr_expect_str_eq(first_of(backends), "reference");
    json_decref(targets);
    json_decref(backends);
}

Test(command_rank, all_of_it_is_printed)
{
    printed_expect(
        PRINTED(command_rank_main, "--config", ini, "--over", "op", "--target", "gpu", "--explain"),
        OUTCOME_OK, "exhaustive: ");
    printed_expect(
        PRINTED(command_rank_main, "--config", ini, "--over", "op", "--budget", "2s", "--explain"),
        OUTCOME_OK, "\npredicted: ");
}

Test(command_rank, what_cannot_be_ranked_is_refused)
{
    printed_expect(PRINTED(command_rank_main, "--over", "op"), OUTCOME_USAGE, "no run");
    printed_expect(PRINTED(command_rank_main, "--config", ini), OUTCOME_USAGE,
                   "give --over op, target, backend, model, encoding or plan");
    printed_expect(PRINTED(command_rank_main, "--config", ini, "--over", "x"), OUTCOME_USAGE,
                   "--over is 'x', expected one of: op target backend model encoding plan");
    printed_expect(PRINTED(command_rank_main, "--config", ini, "--over", "op", "--by", "fail"),
                   OUTCOME_USAGE, "--by is 'fail'");
    printed_expect(PRINTED(command_rank_main, "--config", ini, "--over", "op", "--budget", "0"),
                   OUTCOME_USAGE, "budget is '0'");
    printed_expect(PRINTED(command_rank_main, "--config", ini, "--over", "op", "--target", "x"),
                   OUTCOME_USAGE, "has no section [target.x]");
    cr_assert_eq(remove(scratch_path(&scratch, "run/run.tapmlrun")), 0);
    printed_expect(PRINTED(command_rank_main, "--config", ini, "--over", "op"), OUTCOME_USAGE,
                   "has no run yet");
}
