// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/random.h"
#include "choose/race.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdint.h>

enum { ARMS_MAX = 40 };

// Runs a race in which each case of an arm gives 1 with the arm's rate, the same for the same seed.
static void run(struct race *race, const double *rates, uint64_t seed)
{
    struct random randoms[ARMS_MAX];
    cr_assert_leq(race->arm_count, ARMS_MAX);
    for (size_t i = 0; i < race->arm_count; i++) {
        random_init(&randoms[i], seed * 1000 + i);
    }
    race_begin(race);
    while (race_next(race)) {
        for (size_t i = 0; i < race->arm_count; i++) {
            while (race->arms[i].taken < race->arms[i].goal) {
                const double drawn = (double)random_below(&randoms[i], 1000) / 1000;
                race_take(race, i, drawn < rates[i] ? 1 : 0);
            }
        }
    }
}

static struct race race_of(struct race_arm *arms, size_t count, size_t cases, size_t budget)
{
    for (size_t i = 0; i < count; i++) {
        arms[i] = (struct race_arm){.count = cases};
    }
    return (struct race){
        .arms = arms, .arm_count = count, .budget = budget, .most = 1, .is_of_failures = 1};
}

static size_t first_of(const struct race *race)
{
    size_t order[ARMS_MAX];
    race_sort(race, order);
    return order[0];
}

Test(race, all_cases_tell_the_truth)
{
    static const double rates[] = {0.1, 0.3, 0.2};
    struct race_arm arms[3];
    struct race race = race_of(arms, 3, 400, 0);
    run(&race, rates, 1);
    cr_expect_eq(race.method, RACE_EXHAUSTIVE);
    cr_expect_eq(first_of(&race), 1);
    cr_expect_lt(fabs(race_value(&arms[1]) - 0.3), 0.08);
    cr_expect_leq(race.spent, 1200);
}

Test(race, ends_when_nothing_can_change_any_more)
{
    static const double rates[] = {0, 1, 0};
    struct race_arm arms[3];
    struct race race = race_of(arms, 3, 80, 0);
    run(&race, rates, 1);
    cr_expect_eq(race.is_settled, 1);
    // Half of the arm that always fails is as many failures as the others can have left.
    cr_expect_eq(race.spent, 3 * 40);
    cr_expect_eq(first_of(&race), 1);
}

Test(race, a_value_without_a_bound_is_never_settled_early)
{
    static const double rates[] = {0, 1};
    struct race_arm arms[2];
    struct race race = race_of(arms, 2, 80, 0);
    race.most = INFINITY;
    run(&race, rates, 1);
    cr_expect_eq(race.spent, 160);
}

Test(race, a_budget_is_kept_and_used)
{
    static const size_t counts[] = {3, 100, 7, 50, 1000, 2, 30, 4, 90, 11, 60, 5};
    enum { COUNT = sizeof(counts) / sizeof(*counts) };
    static const double rates[COUNT] = {0.5, 0.5, 0.4, 0.5, 0.5, 0.4, 0.5, 0.4, 0.5, 0.5, 0.5, 0.5};
    for (int method = RACE_UNIFORM; method <= RACE_HALVING; method++) {
        for (size_t budget = 1; budget < 400; budget += 7) {
            struct race_arm arms[COUNT];
            struct race race = race_of(arms, COUNT, 1, budget);
            race.method = (enum race_method)method;
            for (size_t i = 0; i < COUNT; i++) {
                arms[i].count = counts[i];
            }
            run(&race, rates, budget);
            cr_expect_leq(race.spent, budget);
            if (method == RACE_UNIFORM && !race.is_settled) {
                cr_expect_eq(race.spent, budget);
            }
        }
    }
}

Test(race, halving_spends_its_budget_on_the_better_half)
{
    static const double rates[16] = {[5] = 0.9, [9] = 0.8};
    struct race_arm arms[16];
    struct race race = race_of(arms, 16, 1000, 640);
    run(&race, rates, 3);
    cr_expect_eq(race.method, RACE_HALVING);
    cr_expect_eq(race.rounds, 4);
    cr_expect_eq(first_of(&race), 5);
    cr_expect_eq(arms[5].taken, 10 + 20 + 40 + 80);
    cr_expect_eq(race.spent, 640);
    size_t first_round = 0;
    for (size_t i = 0; i < 16; i++) {
        first_round += arms[i].last_round == 1;
        cr_expect_geq(arms[i].taken, 10);
    }
    cr_expect_eq(first_round, 8);
}

Test(race, of_few_arms_each_gets_as_many_cases)
{
    static const double rates[] = {0.2, 0.1, 0.3};
    struct race_arm arms[3];
    struct race race = race_of(arms, 3, 100, 61);
    run(&race, rates, 1);
    cr_expect_eq(race.method, RACE_UNIFORM);
    cr_expect_eq(race.spent, 61);
    for (size_t i = 0; i < 3; i++) {
        cr_expect_geq(arms[i].taken, 20);
        cr_expect_leq(arms[i].taken, 21);
    }
}

Test(race, what_has_no_value_counts_as_nothing)
{
    struct race_arm arms[3];
    struct race race = race_of(arms, 3, 10, 0);
    size_t order[3];
    race_begin(&race);
    while (race_next(&race)) {
        for (size_t i = 0; i < 3; i++) {
            while (arms[i].taken < arms[i].goal) {
                race_take(&race, i, i == 1 ? NAN : i == 2 ? 1 : 0);
            }
        }
    }
    race_sort(&race, order);
    cr_expect_eq(order[0], 2);
    cr_expect_eq(order[2], 1);
    cr_expect(isnan(race_value(&arms[1])));
    cr_expect(isnan(race_spread(&race, &arms[1])));
}

Test(race, without_arms_or_cases_it_is_over)
{
    struct race_arm arms[1] = {{.count = 0}};
    struct race none = {.arms = arms, .arm_count = 0}, empty = {.arms = arms, .arm_count = 1};
    race_begin(&none);
    cr_expect_eq(race_next(&none), 1); // A round of nothing,
    race_begin(&empty);
    for (size_t i = 0; i < 100 && race_next(&empty); i++) {
        cr_assert_lt(i, 50);
    }
    cr_expect_eq(empty.spent, 0);
}

Test(race, a_spread_shrinks_and_ends_at_nothing)
{
    struct race_arm arms[2];
    struct race race = race_of(arms, 2, 64, 0);
    race.is_of_failures = 0;
    double before = INFINITY;
    race_begin(&race);
    while (race_next(&race)) {
        for (size_t i = 0; i < 2; i++) {
            while (arms[i].taken < arms[i].goal) {
                race_take(&race, i, arms[i].taken % 2 ? 0.25 : 0.75);
            }
        }
        const double spread = race_spread(&race, &arms[0]);
        cr_expect_lt(spread, before);
        before = spread;
    }
    cr_expect_eq(before, 0);
}

Test(race, the_same_race_asks_for_the_same_cases)
{
    static const double rates[12] = {0.1, 0.2, 0.3, 0.1, 0.4, 0.2, 0.1, 0.1, 0.5, 0.1, 0.2, 0.3};
    struct race_arm arms[12], again[12];
    struct race race = race_of(arms, 12, 50, 200), other = race_of(again, 12, 50, 200);
    run(&race, rates, 7);
    run(&other, rates, 7);
    for (size_t i = 0; i < 12; i++) {
        cr_expect_eq(arms[i].taken, again[i].taken);
    }
}

// A sample of a larger whole is uncertain once all of it is known, too.
Test(race, a_sample_keeps_its_spread)
{
    static const double rates[] = {0.1, 0.3};
    struct race_arm arms[2];
    struct race race = race_of(arms, 2, 100, 0);
    race.rounds_most = 2;
    run(&race, rates, 4);
    arms[1].taken = arms[1].count;
    cr_expect_leq(race.round, 2);
    cr_expect_eq(race_spread(&race, &arms[1]), 0);
    race.is_sample = 1;
    cr_expect_gt(race_spread(&race, &arms[1]), 0.05);
}
