// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "choose/pool_cost.h"

#include <criterion/criterion.h>
#include <math.h>

enum { MOST = 8 };

// 600 s of work that is cut evenly, 30 s for a start, an hour of a member for 3.6: 0.001 a second.
static double longest_s[MOST];

static struct pool_input made_input(double deadline_s)
{
    for (int n = 1; n <= MOST; n++) {
        longest_s[n - 1] = 600.0 / n;
    }
    return (struct pool_input){.longest_s = longest_s,
                               .most = MOST,
                               .work_s = 600,
                               .scale = 1,
                               .cases = 1200,
                               .start_s = 30,
                               .runs = 1,
                               .deadline_s = deadline_s,
                               .rates = {3.6, 3.6}};
}

static const struct pool_flip *
find_flip(const struct pool_cost *cost, enum pool_lever lever, int is_up)
{
    for (size_t i = 0; i < cost->flip_count; i++) {
        const struct pool_flip *flip = &cost->flips[i];
        if (flip->lever == lever && (flip->at > flip->now) == is_up) {
            return flip;
        }
    }
    return NULL;
}

Test(pool_cost, takes_the_fewest_members_that_meet_a_deadline)
{
    struct pool_input input = made_input(INFINITY);
    struct pool_cost cost;
    pool_cost_find(&input, &cost);
    cr_assert(cost.has_choice);
    cr_expect_eq(cost.kind, POOL_ON_DEMAND, "one run a day keeps nobody busy");
    cr_expect_eq(cost.best[POOL_ON_DEMAND].members, 1);
    cr_expect_float_eq(cost.best[POOL_ON_DEMAND].time_s, 630, 1e-9);
    cr_expect_float_eq(cost.best[POOL_ON_DEMAND].cost, 0.63, 1e-9);
    cr_expect_float_eq(cost.best[POOL_RESIDENT].time_s, 600, 1e-9);
    cr_expect_float_eq(cost.best[POOL_RESIDENT].cost, 86.4, 1e-9);
    input = made_input(200);
    pool_cost_find(&input, &cost);
    cr_expect_eq(cost.best[POOL_RESIDENT].members, 3, "200 s each");
    cr_expect_eq(cost.best[POOL_ON_DEMAND].members, 4, "30 + 150 s each");
    cr_expect_float_eq(cost.best[POOL_ON_DEMAND].held_s, 720, 1e-9);
}

Test(pool_cost, a_start_may_take_longer_than_a_deadline_allows)
{
    struct pool_input input = made_input(80);
    struct pool_cost cost;
    pool_cost_find(&input, &cost);
    cr_expect_eq(cost.best[POOL_ON_DEMAND].members, 0, "30 + 75 s at best");
    cr_assert(cost.has_choice);
    cr_expect_eq(cost.kind, POOL_RESIDENT);
    cr_expect_eq(cost.best[POOL_RESIDENT].members, 8);
    cr_expect(isnan(cost.even_runs));
    input.deadline_s = 70;
    pool_cost_find(&input, &cost);
    cr_expect_not(cost.has_choice);
    const struct pool_flip *flip = find_flip(&cost, POOL_DEADLINE, 1);
    cr_assert_not_null(flip, "a longer deadline can be met");
    cr_expect(flip->has_choice);
    cr_expect_float_eq(flip->at, 75, 0.1);
    cr_expect_eq(flip->members, 8);
}

// What both kinds cost is the same there.
Test(pool_cost, finds_where_both_kinds_cost_the_same)
{
    struct pool_input input = made_input(INFINITY);
    struct pool_cost cost;
    input.rates[POOL_RESIDENT] = 1.8;
    pool_cost_find(&input, &cost);
    cr_assert_not(isnan(cost.even_runs));
    cr_expect_float_eq(cost.even_runs, 0.5 * 86400 / 630, 1e-9);
    input.runs = cost.even_runs;
    cr_expect_float_eq(pool_cost_option(&input, POOL_RESIDENT, 1).cost,
                       pool_cost_option(&input, POOL_ON_DEMAND, 1).cost, 1e-9);
    input.runs = 10;
    pool_cost_find(&input, &cost);
    cr_assert_not(isnan(cost.even_cases));
    input.scale = cost.even_cases / input.cases;
    cr_expect_float_eq(pool_cost_option(&input, POOL_RESIDENT, 1).cost,
                       pool_cost_option(&input, POOL_ON_DEMAND, 1).cost, 1e-9);
    input = made_input(INFINITY);
    input.rates[POOL_RESIDENT] = 7.2;
    pool_cost_find(&input, &cost);
    cr_expect(isnan(cost.even_runs), "at twice the rate it would have to run twice a day's time");
}

Test(pool_cost, more_runs_than_a_day_has_time_for_take_more_residents)
{
    struct pool_input input = made_input(INFINITY);
    struct pool_cost cost;
    input.runs = 300; // 288 s each.
    pool_cost_find(&input, &cost);
    cr_expect_eq(cost.best[POOL_RESIDENT].members, 3);
    cr_expect_eq(cost.best[POOL_ON_DEMAND].members, 1, "each run has its own");
}

Test(pool_cost, says_what_turns_the_choice_the_nearest_first)
{
    struct pool_input input = made_input(700);
    struct pool_cost cost;
    input.rates[POOL_RESIDENT] = 1.8;
    input.runs = 60;
    pool_cost_find(&input, &cost);
    cr_assert_eq(cost.kind, POOL_ON_DEMAND);
    const struct pool_flip *runs = find_flip(&cost, POOL_RUNS, 1);
    cr_assert_not_null(runs);
    cr_expect_eq(runs->kind, POOL_RESIDENT);
    cr_expect_eq(runs->members, 1);
    cr_expect_float_eq(runs->at, cost.even_runs, 1e-3 * cost.even_runs);
    cr_expect_null(find_flip(&cost, POOL_RUNS, 0));
    const struct pool_flip *cases = find_flip(&cost, POOL_CASES, 1);
    cr_assert_not_null(cases);
    cr_expect_float_eq(cases->at, fmin(cost.even_cases, 1200.0 * 670 / 600), 1.5);
    const struct pool_flip *deadline = find_flip(&cost, POOL_DEADLINE, 0);
    cr_assert_not_null(deadline);
    cr_expect_float_eq(deadline->at, 630, 1);
    for (size_t i = 1; i < cost.flip_count; i++) {
        const struct pool_flip *a = &cost.flips[i - 1], *b = &cost.flips[i];
        cr_expect_leq(fabs(log(a->at / a->now)), fabs(log(b->at / b->now)));
    }
}

// Levers that are zero or without a bound cannot be turned by a factor.
Test(pool_cost, zeros_are_no_levers)
{
    struct pool_input input = made_input(INFINITY);
    struct pool_cost cost;
    input.start_s = 0;
    input.rates[POOL_RESIDENT] = input.rates[POOL_ON_DEMAND] = 0;
    pool_cost_find(&input, &cost);
    cr_assert(cost.has_choice);
    cr_expect_eq(cost.kind, POOL_ON_DEMAND, "of two that cost the same nothing is left running");
    cr_expect(isnan(cost.even_runs));
    for (size_t i = 0; i < cost.flip_count; i++) {
        cr_expect_neq(cost.flips[i].lever, POOL_START);
        cr_expect_neq(cost.flips[i].lever, POOL_DEADLINE);
        cr_expect_neq(cost.flips[i].lever, POOL_RATE_RESIDENT);
    }
}

Test(pool_cost, has_names)
{
    cr_expect_str_eq(pool_cost_kind_name(POOL_ON_DEMAND), "on demand");
    cr_expect_str_eq(pool_cost_lever_name(POOL_RUNS), "runs a day");
    cr_expect_str_eq(pool_cost_lever_name(POOL_RATE_ON_DEMAND), "rate on demand");
}
