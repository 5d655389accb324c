// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "choose/pool_cost.h"

#include "base/assert.h"

#include <math.h>
#include <stdlib.h>

// How far a lever is turned, by which steps, and how closely the turning point is told.
enum { HALVINGS = 20 };
static const double FACTOR_MAX = 1000, FACTOR_STEP = 1.02;

static const double DAY_S = 86400, HOUR_S = 3600;

const char *pool_cost_kind_name(enum pool_kind kind)
{
    static const char *const names[] = {"resident", "on demand"};
    ASSERT((size_t)kind < POOL_KINDS);
    return names[kind];
}

const char *pool_cost_lever_name(enum pool_lever lever)
{
    static const char *const names[] = {"runs a day", "cases of a run", "start",
                                        "deadline",   "resident rate",  "rate on demand"};
    ASSERT((size_t)lever < POOL_LEVERS);
    return names[lever];
}

struct pool_option
pool_cost_option(const struct pool_input *input, enum pool_kind kind, size_t members)
{
    ASSERT(members >= 1 && members <= input->most && input->runs > 0);
    const double longest_s = input->scale * input->longest_s[members - 1];
    const double work_s = input->scale * input->work_s;
    const double n = (double)members;
    struct pool_option option = {.members = members};
    if (kind == POOL_RESIDENT) {
        option.time_s = longest_s;
        option.held_s = n * DAY_S / input->runs;
    } else {
        option.time_s = input->start_s + longest_s;
        option.held_s = n * input->start_s + work_s;
    }
    option.cost = input->rates[kind] * option.held_s / HOUR_S;
    return option;
}

// A resident pool does one run after the other; one on demand is there for each of them.
static int meets(const struct pool_input *input, enum pool_kind kind, size_t members)
{
    const struct pool_option option = pool_cost_option(input, kind, members);
    return option.time_s <= input->deadline_s &&
           (kind == POOL_ON_DEMAND || option.time_s * input->runs <= DAY_S);
}

// The fewest members that are enough: times do not grow with them.
static struct pool_option find_fewest(const struct pool_input *input, enum pool_kind kind)
{
    size_t low = 1, high = input->most;
    if (!meets(input, kind, high)) {
        return (struct pool_option){.members = 0, .time_s = NAN, .held_s = NAN, .cost = NAN};
    }
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (meets(input, kind, middle)) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return pool_cost_option(input, kind, low);
}

static void choose(const struct pool_input *input, struct pool_cost *cost)
{
    for (int kind = 0; kind < POOL_KINDS; kind++) {
        cost->best[kind] = find_fewest(input, (enum pool_kind)kind);
    }
    const struct pool_option *resident = &cost->best[POOL_RESIDENT];
    const struct pool_option *on_demand = &cost->best[POOL_ON_DEMAND];
    cost->has_choice = resident->members > 0 || on_demand->members > 0;
    // Of two that cost the same nothing is left running.
    cost->kind =
        on_demand->members == 0 || (resident->members > 0 && resident->cost < on_demand->cost)
            ? POOL_RESIDENT
            : POOL_ON_DEMAND;
}

// -- Where both cost the same ------------------------------------------------------------------

static void find_even(const struct pool_input *input, struct pool_cost *cost)
{
    const struct pool_option *resident = &cost->best[POOL_RESIDENT];
    const struct pool_option *on_demand = &cost->best[POOL_ON_DEMAND];
    const double day_cost =
        input->rates[POOL_RESIDENT] * (double)resident->members * DAY_S / HOUR_S;
    const double rate = input->rates[POOL_ON_DEMAND] / HOUR_S;
    const double work_s = input->scale * input->work_s;
    cost->even_runs = cost->even_cases = NAN;
    if (resident->members == 0 || on_demand->members == 0 || !(rate > 0) || !(work_s > 0)) {
        return;
    }
    const double runs = day_cost / on_demand->cost;
    if (runs * resident->time_s <= DAY_S) {
        cost->even_runs = runs;
    }
    const double factor =
        (day_cost / input->runs / rate - (double)on_demand->members * input->start_s) / work_s;
    if (factor > 0 && factor * resident->time_s * input->runs <= DAY_S) {
        cost->even_cases = factor * input->cases;
    }
}

// -- What turns the choice -----------------------------------------------------------------------

static double *lever_of(struct pool_input *input, enum pool_lever lever)
{
    double *const levers[] = {&input->runs,
                              &input->scale,
                              &input->start_s,
                              &input->deadline_s,
                              &input->rates[POOL_RESIDENT],
                              &input->rates[POOL_ON_DEMAND]};
    ASSERT((size_t)lever < POOL_LEVERS);
    return levers[lever];
}

// The choice with a lever at so many times of what it is.
static struct pool_cost turn(const struct pool_input *input, enum pool_lever lever, double factor)
{
    struct pool_input turned = *input;
    struct pool_cost cost;
    *lever_of(&turned, lever) *= factor;
    choose(&turned, &cost);
    return cost;
}

static int is_same(const struct pool_cost *a, const struct pool_cost *b)
{
    return a->has_choice == b->has_choice &&
           (!a->has_choice ||
            (a->kind == b->kind && a->best[a->kind].members == b->best[b->kind].members));
}

// Steps away from 1 until the choice is another one, then halves the last step.
static int find_flip(const struct pool_input *input,
                     const struct pool_cost *cost,
                     enum pool_lever lever,
                     int is_up,
                     struct pool_flip *out_flip)
{
    const double step = is_up ? FACTOR_STEP : 1 / FACTOR_STEP;
    double inside = 1, beyond = step;
    struct pool_cost other = turn(input, lever, beyond);
    while (is_same(cost, &other)) {
        inside = beyond;
        beyond *= step;
        if (beyond > FACTOR_MAX || beyond < 1 / FACTOR_MAX) {
            return 0;
        }
        other = turn(input, lever, beyond);
    }
    for (int i = 0; i < HALVINGS; i++) {
        const double middle = sqrt(inside * beyond);
        const struct pool_cost tried = turn(input, lever, middle);
        if (is_same(cost, &tried)) {
            inside = middle;
        } else {
            beyond = middle;
            other = tried;
        }
    }
    struct pool_input now = *input;
    const double value = lever == POOL_CASES ? input->cases : *lever_of(&now, lever);
    *out_flip = (struct pool_flip){.lever = lever,
                                   .now = value,
                                   .at = value * beyond,
                                   .has_choice = other.has_choice,
                                   .kind = other.kind,
                                   .members = other.best[other.kind].members};
    return 1;
}

static int by_distance(const void *a, const void *b)
{
    const struct pool_flip *one = a, *other = b;
    const double near = fabs(log(one->at / one->now)), far = fabs(log(other->at / other->now));
    return near < far ? -1 : near > far;
}

static void find_flips(const struct pool_input *input, struct pool_cost *cost)
{
    cost->flip_count = 0;
    for (int lever = 0; lever < POOL_LEVERS; lever++) {
        struct pool_input copy = *input;
        const double now = *lever_of(&copy, (enum pool_lever)lever);
        for (int is_up = 0; isfinite(now) && now > 0 && is_up < 2; is_up++) {
            cost->flip_count += (size_t)find_flip(input, cost, (enum pool_lever)lever, is_up,
                                                  &cost->flips[cost->flip_count]);
        }
    }
    qsort(cost->flips, cost->flip_count, sizeof(*cost->flips), by_distance);
}

void pool_cost_find(const struct pool_input *input, struct pool_cost *out_cost)
{
    ASSERT(input->most >= 1 && input->runs > 0 && input->scale > 0 && input->start_s >= 0);
    choose(input, out_cost);
    find_even(input, out_cost);
    find_flips(input, out_cost);
}
