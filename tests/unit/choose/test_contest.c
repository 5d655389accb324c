// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"
#include "choose/contest.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { ARMS = 5, CASES = 16, ALL = ARMS * CASES };

// Cases whose values are those of their arm and place; arm 3 has the largest ones.
struct rig {
    struct arena *arena;
    struct contest contest;
    struct race_arm arms[ARMS];
    struct contest_fact facts[ALL];
    size_t picks[ARMS][CASES], *rows[ARMS];
    int is_run[ALL];
    size_t taken, runs_most; // Runs after which it is refused; 0: never.
};

static tapml_status run(void *user, const size_t *facts, size_t count, size_t done)
{
    struct rig *rig = user;
    cr_expect_leq(done + count, ALL);
    for (size_t i = 0; i < count; i++) {
        const size_t arm = facts[i] / CASES;
        if (rig->is_run[facts[i]]) {
            continue;
        }
        if (rig->runs_most > 0 && rig->contest.spent.runs == rig->runs_most) {
            return status_fail(TAPML_CANCELLED, "enough");
        }
        rig->is_run[facts[i]] = 1;
        rig->facts[facts[i]].value = (arm == 3 ? 5 : (double)arm) + (double)(facts[i] % 3) / 8;
        rig->facts[facts[i]].time_ns = 1e9 * (double)(arm + 1);
        rig->contest.spent.runs++;
    }
    return TAPML_OK;
}

static tapml_status price(void *user, int *out_is_measured)
{
    struct rig *rig = user;
    *out_is_measured = 1;
    for (size_t i = 0; i < ALL; i++) {
        const int is_known = rig->is_run[i / CASES * CASES];
        rig->facts[i].predicted_ns = is_known ? 1e9 * (double)(i / CASES + 1) : NAN;
        *out_is_measured &= is_known;
    }
    return TAPML_OK;
}

static void take(void *user, size_t arm, size_t fact)
{
    struct rig *rig = user;
    cr_expect_eq(fact / CASES, arm);
    rig->taken++;
}

static void begin(struct rig *rig)
{
    for (size_t i = 0; i < ARMS; i++) {
        rig->arms[i] = (struct race_arm){.count = CASES};
        rig->rows[i] = rig->picks[i];
        for (size_t n = 0; n < CASES; n++) {
            rig->picks[i][n] = i * CASES + n;
        }
    }
    for (size_t i = 0; i < ALL; i++) {
        rig->facts[i].is_known = rig->is_run[i];
    }
    rig->contest = (struct contest){
        .race = {.arms = rig->arms, .arm_count = ARMS, .least = 0, .most = INFINITY},
        .facts = rig->facts,
        .picks = rig->rows,
        .pilot = 1,
        .slice = 2,
        .runs = "runs",
        .calls = {run, price, take, rig}};
    rig->taken = 0;
}

static struct rig rig;

static void open_rig(void)
{
    memset(&rig, 0, sizeof(rig));
    rig.arena = arena_create();
    cr_assert_not_null(rig.arena);
    begin(&rig);
}

static void close_rig(void)
{
    arena_destroy(rig.arena);
}

TestSuite(contest, .init = open_rig, .fini = close_rig);

Test(contest, everything_runs_without_a_budget_and_once)
{
    cr_assert_eq(contest_run(&rig.contest, rig.arena), TAPML_OK);
    cr_expect_eq(rig.contest.race.method, RACE_EXHAUSTIVE);
    cr_expect_eq(rig.contest.order[0], 3);
    cr_expect_eq(rig.contest.order[1], 4);
    cr_expect_eq(rig.contest.spent.runs, ALL);
    cr_expect_eq(rig.taken, ALL);
    cr_expect_eq(rig.contest.predicted.runs, ALL);
    cr_expect_float_eq(rig.contest.spent.seconds, 16 * (1 + 2 + 3 + 4 + 5), 1e-9);
    cr_expect_float_eq(rig.contest.predicted.seconds, rig.contest.spent.seconds, 1e-9);
    begin(&rig);
    cr_assert_eq(contest_run(&rig.contest, rig.arena), TAPML_OK);
    cr_expect_eq(rig.contest.spent.runs, 0);
    cr_expect_eq(rig.contest.predicted.runs, 0);
    cr_expect_eq(rig.contest.spent.seconds, 0);
    cr_expect_eq(rig.taken, ALL);
}

Test(contest, a_budget_is_halved_and_predicted)
{
    rig.contest.budget = (struct case_budget){BUDGET_CASES, 30};
    cr_assert_eq(contest_run(&rig.contest, rig.arena), TAPML_OK);
    cr_expect_eq(rig.contest.race.method, RACE_HALVING);
    cr_expect_eq(rig.contest.order[0], 3);
    cr_expect_leq(rig.contest.spent.runs, 30);
    cr_expect_eq(rig.contest.predicted.runs, 30);
    cr_expect_gt(rig.arms[0].last_round, 0);
    cr_expect_lt(rig.arms[0].taken, rig.arms[3].taken);
    const size_t spent = rig.contest.spent.runs, first = rig.arms[3].taken;
    begin(&rig);
    rig.contest.budget = (struct case_budget){BUDGET_CASES, 30};
    cr_assert_eq(contest_run(&rig.contest, rig.arena), TAPML_OK);
    cr_expect_eq(rig.contest.spent.runs, 0);
    cr_expect_eq(rig.contest.race.spent, spent);
    cr_expect_eq(rig.arms[3].taken, first);
}

// The pilot is priced: it is a part of what is asked for, and not paid twice.
Test(contest, a_small_budget_is_not_spent_on_prices)
{
    rig.contest.budget = (struct case_budget){BUDGET_CASES, 2 * ARMS - 1};
    cr_assert_eq(contest_run(&rig.contest, rig.arena), TAPML_OK);
    cr_expect(isnan(rig.contest.predicted.seconds));
    cr_expect_leq(rig.contest.spent.runs, 2 * ARMS - 1);
}

Test(contest, seconds_that_are_over_end_it_behind_the_pilot)
{
    rig.contest.budget = (struct case_budget){BUDGET_SECONDS, 1e-9};
    cr_assert_eq(contest_run(&rig.contest, rig.arena), TAPML_OK);
    cr_expect_eq(rig.contest.is_out_of_time, 1);
    cr_expect_eq(rig.contest.spent.runs, ARMS);
    begin(&rig);
    rig.contest.budget = (struct case_budget){BUDGET_SECONDS, 1e6};
    cr_assert_eq(contest_run(&rig.contest, rig.arena), TAPML_OK);
    cr_expect_eq(rig.contest.is_out_of_time, 0);
    cr_expect_eq(rig.contest.race.spent, ALL);
}

Test(contest, a_failure_ends_it)
{
    rig.runs_most = 7;
    cr_expect_eq(contest_run(&rig.contest, rig.arena), TAPML_CANCELLED);
    cr_expect_eq(rig.contest.spent.runs, 7);
}

Test(contest, its_cases_are_counted)
{
    cr_expect_eq(contest_count(&rig.contest), ALL);
}
