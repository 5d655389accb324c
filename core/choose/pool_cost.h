// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// How many members of a pool of places of one kind a run takes, and whether they are resident, held
// day and night, or on demand, opened for each run and given back when their share is done: the
// least costly pool that meets a deadline, where the two kinds cost the same, and which input would
// turn the choice. The model is that of Jiang et al., Towards Demystifying Serverless Machine
// Learning Training (2021), with shares in the place of epochs.
//
//     resident:   time = longest share            cost of a run = rate * members * day / runs a day
//     on demand:  time = start + longest share    cost of a run = rate * (members * start + work)
//
// Both costs grow with the members, so of each kind the fewest that meet the deadline are the
// cheapest; and a pool of both kinds costs no less than the cheaper one alone, since shares are
// equal. A day has 86,400 s. Pure; any thread.
#pragma once

#include <stddef.h>

enum pool_kind { POOL_RESIDENT, POOL_ON_DEMAND, POOL_KINDS };

struct pool_input {
    // Seconds of the longest share of n members at [n - 1], which do not grow, and of all work.
    const double *longest_s;
    size_t most; // Members at most, at least 1.
    double work_s;
    double scale; // Of both: 1.
    double cases; // In a run.

    double start_s;
    double runs;              // A day.
    double deadline_s;        // INFINITY: none.
    double rates[POOL_KINDS]; // For an hour of a member; 1 where only time counts.
};

struct pool_option {
    size_t members; // 0: none up to the most meets the deadline.
    double time_s;  // Of a run.
    double held_s;  // Of all members, for a run; of resident ones its part of the day.
    double cost;    // Of a run.
};

// What can turn the choice.
enum pool_lever {
    POOL_RUNS,
    POOL_CASES,
    POOL_START,
    POOL_DEADLINE,
    POOL_RATE_RESIDENT,
    POOL_RATE_ON_DEMAND,
    POOL_LEVERS
};

// A lever, and the value at which the choice is first another one, if nothing else changes.
struct pool_flip {
    enum pool_lever lever;
    double now, at;
    int has_choice; // 0: no pool meets the deadline from there on.
    enum pool_kind kind;
    size_t members;
};

enum { POOL_FLIPS = 2 * POOL_LEVERS };

struct pool_cost {
    struct pool_option best[POOL_KINDS];
    int has_choice;      // One of them meets the deadline,
    enum pool_kind kind; // and this is the cheaper one.

    // Runs a day from which on the resident pool is the cheaper one, and cases of a run at today's
    // runs; NaN: it never is, since it could not do so many, or a kind meets no deadline.
    double even_runs, even_cases;

    struct pool_flip flips[POOL_FLIPS]; // The nearest first, by the factor of the lever.
    size_t flip_count;
};

void pool_cost_find(const struct pool_input *input, struct pool_cost *out_cost);

// A pool of so many members, whatever the deadline.
struct pool_option
pool_cost_option(const struct pool_input *input, enum pool_kind kind, size_t members);

// "resident", "on demand"; and "runs a day". Static.
const char *pool_cost_kind_name(enum pool_kind kind);
const char *pool_cost_lever_name(enum pool_lever lever);
