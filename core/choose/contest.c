// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "choose/contest.h"

#include "base/arena.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/log.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double SECOND_NS = 1e9;

size_t contest_count(const struct contest *contest)
{
    size_t all = 0;
    for (size_t i = 0; i < contest->race.arm_count; i++) {
        all += contest->race.arms[i].count;
    }
    return all;
}

// -- Rounds ------------------------------------------------------------------------------------

// Lists what the arms take up to their goals, in turn, and counts it; at most `most` of each arm.
static size_t list_round(const struct contest *contest, size_t most)
{
    const struct race *race = &contest->race;
    size_t count = 0;
    for (size_t depth = 0, before = SIZE_MAX; depth < most && before != count; depth++) {
        before = count;
        for (size_t i = 0; i < race->arm_count; i++) {
            const struct race_arm *arm = &race->arms[i];
            if (arm->taken + depth < arm->goal) {
                contest->scratch[count++] = contest->picks[i][arm->taken + depth];
            }
        }
    }
    return count;
}

static tapml_status run_listed(const struct contest *contest, size_t count, size_t done)
{
    return contest->calls.run(contest->calls.user, contest->scratch, count, done);
}

static void take(struct contest *contest, size_t arm)
{
    const size_t index = contest->picks[arm][contest->race.arms[arm].taken];
    struct contest_fact *fact = &contest->facts[index];
    race_take(&contest->race, arm, fact->value);
    if (contest->calls.take) {
        contest->calls.take(contest->calls.user, arm, index);
    }
    if (!fact->is_known) {
        contest->spent.seconds += fact->time_ns / SECOND_NS;
        fact->is_known = 1;
    }
}

// Runs up to the goals, at most `most` cases of each arm, and takes what came of it.
static tapml_status run_slice(struct contest *contest, size_t most)
{
    struct race *race = &contest->race;
    TAPML_TRY(run_listed(contest, list_round(contest, most), race->spent));
    for (size_t i = 0; i < race->arm_count; i++) {
        for (size_t n = 0; n < most && race->arms[i].taken < race->arms[i].goal; n++) {
            take(contest, i);
        }
    }
    return TAPML_OK;
}

static int is_round_over(const struct race *race)
{
    for (size_t i = 0; i < race->arm_count; i++) {
        if (race->arms[i].taken < race->arms[i].goal) {
            return 0;
        }
    }
    return 1;
}

static tapml_status run_round(struct contest *contest)
{
    while (!is_round_over(&contest->race)) {
        contest->is_out_of_time = contest->deadline_ns > 0 && clock_now_ns() > contest->deadline_ns;
        if (contest->is_out_of_time) {
            return TAPML_OK;
        }
        TAPML_TRY(run_slice(contest, contest->deadline_ns > 0 ? contest->slice : SIZE_MAX));
    }
    return TAPML_OK;
}

// -- Cost --------------------------------------------------------------------------------------

// Takes what is known of the goals of a race without running; adds what the rest would cost.
// Returns the runs.
static size_t
take_known(const struct contest *contest, struct race *copy, struct contest_cost *cost)
{
    size_t runs = 0;
    for (size_t i = 0; i < copy->arm_count; i++) {
        while (copy->arms[i].taken < copy->arms[i].goal) {
            const struct contest_fact *fact =
                &contest->facts[contest->picks[i][copy->arms[i].taken]];
            race_take(copy, i, fact->is_known ? fact->value : NAN);
            runs += !fact->is_known;
            cost->seconds += fact->is_known ? 0 : fact->predicted_ns / SECOND_NS;
        }
    }
    cost->runs += runs;
    return runs;
}

// What `cases` that nobody knows by now cost: as much as all that were not taken do in the mean.
static struct contest_cost
cost_of_any(const struct contest *contest, const struct race *copy, size_t cases)
{
    double all = 0, unknown = 0, seconds = 0;
    for (size_t i = 0; i < copy->arm_count; i++) {
        for (size_t n = copy->arms[i].taken; n < copy->arms[i].count; n++) {
            const struct contest_fact *fact = &contest->facts[contest->picks[i][n]];
            all++;
            unknown += !fact->is_known;
            seconds += fact->is_known ? 0 : fact->predicted_ns / SECOND_NS;
        }
    }
    const double share = all > 0 ? fmin((double)cases / all, 1) : 0;
    return (struct contest_cost){(size_t)(share * unknown + 0.5), share * seconds};
}

// Runs the race as far as it is known, without running a case. Which arms a halving goes on with is
// not known once a value is missing; the other methods take the same cases whatever comes out.
static void predict(struct contest *contest, struct race *copy)
{
    struct contest_cost *cost = &contest->predicted;
    *cost = (struct contest_cost){.runs = 0};
    while (race_next(copy)) {
        if (take_known(contest, copy, cost) > 0 && copy->method == RACE_HALVING) {
            const struct contest_cost rest = cost_of_any(contest, copy, copy->budget - copy->spent);
            cost->runs += rest.runs;
            cost->seconds += rest.seconds;
            return;
        }
    }
}

// Runs the first cases of each arm, which the race takes first anyway: then what cases take is
// known. `*out_count` is how many they are.
static tapml_status run_pilot(struct contest *contest, size_t *out_count)
{
    struct race *race = &contest->race;
    for (size_t i = 0; i < race->arm_count; i++) {
        race->arms[i].goal = race->arms[i].count;
    }
    *out_count = list_round(contest, contest->pilot);
    for (size_t i = 0; i < race->arm_count; i++) {
        race->arms[i].goal = 0;
    }
    return run_listed(contest, *out_count, 0);
}

// How many cases a budget in seconds is.
static tapml_status measure_budget(struct contest *contest)
{
    struct race *race = &contest->race;
    const double seconds = contest->budget.amount;
    const uint64_t begin_ns = clock_now_ns();
    size_t count = 0;
    contest->deadline_ns = begin_ns + (uint64_t)(seconds * SECOND_NS);
    race->budget = contest_count(contest);
    TAPML_TRY(run_pilot(contest, &count));
    const double took = (double)(clock_now_ns() - begin_ns) / SECOND_NS;
    if (contest->spent.runs > 0) {
        const double each = took / (double)contest->spent.runs;
        const double cases = (double)count + fmax(seconds - took, 0) / each;
        race->budget = cases < (double)race->budget ? (size_t)cases : race->budget;
    }
    return TAPML_OK;
}

// Predicts what each case takes, from a sample where not enough of the arms was measured yet and
// the budget is well beyond such a sample.
static tapml_status price(struct contest *contest)
{
    const struct race *race = &contest->race;
    const struct contest_calls *calls = &contest->calls;
    int is_measured = 0;
    size_t count = 0;
    TAPML_TRY(calls->price(calls->user, &is_measured));
    if (is_measured || contest->deadline_ns > 0 ||
        race->budget < 2 * contest->pilot * race->arm_count) {
        return TAPML_OK;
    }
    TAPML_TRY(run_pilot(contest, &count));
    return calls->price(calls->user, &is_measured);
}

void contest_print_time(double seconds, char out[CONTEST_TIME_TEXT])
{
    if (isnan(seconds)) {
        (void)snprintf(out, CONTEST_TIME_TEXT, "a time that is not known");
    } else {
        (void)snprintf(out, CONTEST_TIME_TEXT, "%.3g s of calls", seconds);
    }
}

static void explain(const struct contest *contest)
{
    const struct race *race = &contest->race;
    char seconds[CONTEST_TIME_TEXT];
    contest_print_time(contest->predicted.seconds, seconds);
    log_say("rank: %s, %zu arms, at most %zu of %zu cases in %zu rounds; predicted are %zu %s "
            "and %s",
            race_method_name(race->method), race->arm_count, race->budget, contest_count(contest),
            race->rounds, contest->predicted.runs, contest->runs, seconds);
}

// -- All of it ---------------------------------------------------------------------------------

static tapml_status begin(struct contest *contest, struct arena *arena)
{
    struct race *race = &contest->race;
    if (contest->budget.kind == BUDGET_SECONDS) {
        TAPML_TRY(measure_budget(contest));
    } else if (contest->budget.kind != BUDGET_ALL) {
        race->budget = budget_cases(&contest->budget, contest_count(contest));
    }
    race_begin(race);
    TAPML_TRY(price(contest));
    struct race copy = *race;
    copy.arms = arena_array(arena, race->arm_count + 1, sizeof(*copy.arms));
    if (!copy.arms) {
        return status_no_memory();
    }
    memcpy(copy.arms, race->arms, race->arm_count * sizeof(*copy.arms));
    predict(contest, &copy);
    if (contest->explains) {
        explain(contest);
    }
    return TAPML_OK;
}

tapml_status contest_run(struct contest *contest, struct arena *arena)
{
    ASSERT(contest->calls.run && contest->calls.price && contest->pilot > 0 && contest->slice > 0);
    contest->order = arena_array(arena, contest->race.arm_count + 1, sizeof(*contest->order));
    contest->scratch = arena_array(arena, contest_count(contest) + 1, sizeof(*contest->scratch));
    if (!contest->order || !contest->scratch) {
        return status_no_memory();
    }
    TAPML_TRY(begin(contest, arena));
    while (!contest->is_out_of_time && race_next(&contest->race)) {
        TAPML_TRY(run_round(contest));
    }
    race_sort(&contest->race, contest->order);
    return TAPML_OK;
}
