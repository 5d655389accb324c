// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "choose/race.h"

#include "base/assert.h"

#include <math.h>

enum { EXHAUSTIVE_ROUNDS = 8, UNIFORM_ROUNDS = 4 };

const char *race_method_name(enum race_method method)
{
    static const char *const names[] = {"auto", "exhaustive", "uniform", "halving"};
    ASSERT((size_t)method < sizeof(names) / sizeof(*names));
    return names[method];
}

// -- The arms ----------------------------------------------------------------------------------

double race_value(const struct race_arm *arm)
{
    return arm->judged > 0 ? arm->sum / (double)arm->judged : NAN;
}

// Bounds of the mean that an arm has once all of its cases are taken. A case that turns out to have
// no value only moves them less.
static double least_of(const struct race *race, const struct race_arm *arm)
{
    const double left = (double)(arm->count - arm->taken);
    const double all = (double)arm->judged + left;
    return all > 0 ? (arm->sum + (left > 0 ? left * race->least : 0)) / all : -INFINITY;
}

static double most_of(const struct race *race, const struct race_arm *arm)
{
    const double left = (double)(arm->count - arm->taken);
    const double all = (double)arm->judged + left;
    return all > 0 ? (arm->sum + (left > 0 ? left * race->most : 0)) / all : -INFINITY;
}

double race_spread(const struct race *race, const struct race_arm *arm)
{
    const double judged = (double)arm->judged;
    const double left = race->is_sample ? 1 : 1 - (double)arm->taken / (double)arm->count;
    if (left <= 0) {
        return arm->judged > 0 ? 0 : NAN;
    }
    if (race->is_of_failures) {
        const double rate = (arm->sum + 2) / (judged + 4);
        return 2 * sqrt(rate * (1 - rate) / (judged + 4) * left);
    }
    if (arm->judged < 2) {
        return NAN;
    }
    const double mean = arm->sum / judged;
    const double variance = fmax(arm->squares / judged - mean * mean, 0) * judged / (judged - 1);
    return 2 * sqrt(variance / judged * left);
}

// Whether arm `a` stands before arm `b`.
static int is_before(const struct race_arm *a, const struct race_arm *b)
{
    const double first = race_value(a), second = race_value(b);
    const size_t first_end = a->last_round > 0 ? a->last_round : SIZE_MAX;
    const size_t second_end = b->last_round > 0 ? b->last_round : SIZE_MAX;
    if (isnan(first) || isnan(second)) {
        return !isnan(first);
    }
    return first_end != second_end ? first_end > second_end : first > second;
}

void race_sort(const struct race *race, size_t *out_order)
{
    for (size_t i = 0; i < race->arm_count; i++) {
        size_t place = i;
        for (; place > 0 && is_before(&race->arms[i], &race->arms[out_order[place - 1]]); place--) {
            out_order[place] = out_order[place - 1];
        }
        out_order[place] = i;
    }
}

// The arm with the largest mean of those that are in; `arm_count` where none has a value.
static size_t find_first(const struct race *race)
{
    size_t first = race->arm_count;
    for (size_t i = 0; i < race->arm_count; i++) {
        const struct race_arm *arm = &race->arms[i];
        if (arm->judged > 0 && arm->last_round == 0 &&
            (first == race->arm_count || race_value(arm) > race_value(&race->arms[first]))) {
            first = i;
        }
    }
    return first;
}

// Whether the first arm stays the first one, whatever the cases give that are left.
static int is_settled(const struct race *race)
{
    const size_t first = find_first(race);
    if (first == race->arm_count) {
        return 0;
    }
    const double least = least_of(race, &race->arms[first]);
    for (size_t i = 0; i < race->arm_count; i++) {
        if (i != first && !(most_of(race, &race->arms[i]) <= least)) {
            return 0;
        }
    }
    return 1;
}

// -- Rounds ------------------------------------------------------------------------------------

static size_t count_all(const struct race *race)
{
    size_t all = 0;
    for (size_t i = 0; i < race->arm_count; i++) {
        all += race->arms[i].count;
    }
    return all;
}

// Rounds after which one arm of `count` is left.
static size_t halving_rounds(size_t count)
{
    size_t rounds = 0;
    for (; count > 1; count = (count + 1) / 2) {
        rounds++;
    }
    return rounds > 0 ? rounds : 1;
}

void race_begin(struct race *race)
{
    const size_t all = count_all(race), rounds = halving_rounds(race->arm_count);
    if (race->budget == 0 || race->budget > all) {
        race->budget = all;
    }
    if (race->method == RACE_AUTO) {
        race->method = race->budget == all                    ? RACE_EXHAUSTIVE
                       : race->arm_count <= RACE_UNIFORM_MOST ? RACE_UNIFORM
                                                              : RACE_HALVING;
    }
    race->rounds = race->method == RACE_EXHAUSTIVE ? EXHAUSTIVE_ROUNDS
                   : race->method == RACE_UNIFORM  ? UNIFORM_ROUNDS
                                                   : rounds;
    if (race->method != RACE_HALVING && race->rounds_most > 0 && race->rounds_most < race->rounds) {
        race->rounds = race->rounds_most;
    }
}

// Cases that the arms that are in get if each has at most `most` of them by the end of the round.
static size_t count_up_to(const struct race *race, size_t most)
{
    size_t count = 0;
    for (size_t i = 0; i < race->arm_count; i++) {
        const struct race_arm *arm = &race->arms[i];
        const size_t goal = arm->count < most ? arm->count : most;
        count += arm->last_round == 0 && goal > arm->taken ? goal - arm->taken : 0;
    }
    return count;
}

// Gives `budget` more cases to the arms that are in, the same number of cases to each as far as it
// has as many; what does not divide goes to the first ones.
static void share(struct race *race, size_t budget)
{
    size_t low = 0, high = 0;
    for (size_t i = 0; i < race->arm_count; i++) {
        high = race->arms[i].count > high ? race->arms[i].count : high;
    }
    while (low < high) { // The largest number of cases that the budget allows for each.
        const size_t middle = high - (high - low) / 2;
        if (count_up_to(race, middle) <= budget) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    size_t rest = budget - count_up_to(race, low);
    for (size_t i = 0; i < race->arm_count; i++) {
        struct race_arm *arm = &race->arms[i];
        const size_t goal = arm->count < low ? arm->count : low;
        const int is_in = arm->last_round == 0;
        const int takes_rest = is_in && rest > 0 && arm->count > low && arm->taken <= low;
        arm->goal = is_in && goal > arm->taken ? goal : arm->taken;
        if (takes_rest) {
            arm->goal = low + 1;
            rest--;
        }
    }
}

// The half of the arms with the smaller means goes no further.
static void halve(struct race *race)
{
    size_t in = 0;
    for (size_t i = 0; i < race->arm_count; i++) {
        in += race->arms[i].last_round == 0;
    }
    for (size_t left_out = in / 2; left_out > 0; left_out--) {
        size_t last = race->arm_count;
        for (size_t i = 0; i < race->arm_count; i++) {
            if (race->arms[i].last_round == 0 &&
                (last == race->arm_count || !is_before(&race->arms[i], &race->arms[last]))) {
                last = i;
            }
        }
        race->arms[last].last_round = race->round;
    }
}

static void set_goals(struct race *race)
{
    const size_t left = race->budget - race->spent;
    const size_t rounds_left = race->rounds - race->round + 1;
    if (race->method != RACE_EXHAUSTIVE) {
        share(race, left / rounds_left);
        return;
    }
    for (size_t i = 0; i < race->arm_count; i++) {
        struct race_arm *arm = &race->arms[i];
        arm->goal = arm->taken + (arm->count - arm->taken + rounds_left - 1) / rounds_left;
    }
}

int race_next(struct race *race)
{
    for (size_t i = 0; i < race->arm_count; i++) {
        ASSERT(race->arms[i].taken == race->arms[i].goal);
    }
    race->is_settled = is_settled(race);
    if (race->is_settled || race->round == race->rounds) {
        return 0;
    }
    if (race->method == RACE_HALVING && race->round > 0) {
        halve(race);
    }
    race->round++;
    set_goals(race);
    return 1;
}

void race_take(struct race *race, size_t arm, double value)
{
    struct race_arm *taken = &race->arms[arm];
    ASSERT(arm < race->arm_count && taken->taken < taken->goal && taken->goal <= taken->count);
    taken->taken++;
    race->spent++;
    if (!isnan(value)) {
        ASSERT(value >= race->least && value <= race->most);
        taken->judged++;
        taken->sum += value;
        taken->squares += value * value;
    }
}
