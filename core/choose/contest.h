// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A race (choose/race.h) whose cases are run: what is known costs nothing and counts as if it were
// run now, so that the same question takes the same cases; what is missing is run round by round,
// within a budget in cases or in seconds, and priced before.
//
// What a case is, and how it is run, is the caller's: cases of a store on targets
// (run/ranking.h), chunks of a text on models (run/trials.h). All cases of all arms are facts,
// numbered by the caller. One thread.
#pragma once

#include "base/status.h"
#include "choose/budget.h"
#include "choose/race.h"

struct arena;

// What is known of a case of an arm.
struct contest_fact {
    double value;        // For the race; NaN: it has none.
    double predicted_ns; // What it would take; NaN: nothing is known.
    double time_ns;      // What it took.
    int is_known;        // It was before it was taken, and costs nothing.
};

// Cases that are run, and the time that they take in seconds.
struct contest_cost {
    size_t runs;
    double seconds; // NaN: not known.
};

// How cases are run. Functions may be NULL but for `run` and `price`. A status that is not TAPML_OK
// ends the contest.
struct contest_calls {
    // Makes facts known that are not, sets their values and times, and adds to `spent.runs`; `done`
    // cases were taken before these.
    tapml_status (*run)(void *user, const size_t *facts, size_t count, size_t done);

    // Sets `predicted_ns` of all facts; whether it stands on enough that was measured on the arms.
    tapml_status (*price)(void *user, int *out_is_measured);

    // A fact was taken into the race, before it counts as known.
    void (*take)(void *user, size_t arm, size_t fact);
    void *user;
};

struct contest {
    // The caller's. Of the race: method, arms with their counts, bounds; not the budget.
    struct race race;
    struct contest_fact *facts;
    size_t **picks; // Of each arm: its facts, in the order in which they are taken.
    struct case_budget budget;
    size_t pilot;     // Cases of each arm that are run for their times, where these are not known,
    size_t slice;     // and those of each arm between two looks at the clock.
    int explains;     // Logs what the race is, and what it is predicted to cost.
    const char *runs; // For that: "replays".
    struct contest_calls calls;

    // The module's.
    size_t *order;      // Indices of arms, the first one first.
    int is_out_of_time; // A budget in seconds was spent before the race was over.
    struct contest_cost predicted, spent;
    uint64_t deadline_ns; // 0: there is none.
    size_t *scratch;
};

// Runs it. `order` is in `arena`. Fails as the calls do, and with TAPML_NO_MEMORY.
tapml_status contest_run(struct contest *contest, struct arena *arena) STATUS_USED;

// Cases of all arms.
size_t contest_count(const struct contest *contest);

// Writes predicted seconds: "1.5 s of calls", or that they are not known.
enum { CONTEST_TIME_TEXT = 64 };
void contest_print_time(double seconds, char out[CONTEST_TIME_TEXT]);
