// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Which op, target or backend of a run is worst, by as few replays as the question needs: arms of a
// race (choose/race.h) whose cases are replayed in the balanced order of the store, round by round.
//
// What is replayed is a result of the run like any other (verify/kept_cases.h). A case that has a
// fresh result costs nothing, and counts as if it were replayed now: the same question asks for the
// same cases again, and nothing is run.
//
// One thread. Failures are those of the store and of a device that went away, and TAPML_NO_MEMORY.
#pragma once

#include "base/status.h"
#include "choose/contest.h"

struct arena;
struct checkpoint;
struct place;
struct registry;
struct store;
struct verdict_list;

// Words of `rank --over` and `rank --by`, in this order.
enum ranking_over { RANKING_OPS, RANKING_TARGETS, RANKING_BACKENDS };
#define RANKING_OVER "op target backend"
enum ranking_by {
    RANKING_FAILURES, // The share of cases that are wrong.
    RANKING_MARGIN,   // The mean of min(margin, RANKING_MARGIN_MOST), which an error counts as.
    RANKING_TIME      // The mean of the times of calls, in nanoseconds.
};
#define RANKING_BY "failures margin time"
enum { RANKING_MARGIN_MOST = 10 };

// All is borrowed.
struct ranking_options {
    struct registry *registry;
    struct store *store;
    const struct checkpoint *checkpoint; // Of weights that the store lacks; or NULL.
    const struct verdict_list *refuted;  // As of struct verdict_options; or NULL.
    struct place *const *targets;        // Open ones.
    size_t target_count;
    enum ranking_over over;
    enum ranking_by by;
    enum race_method method;
    struct case_budget budget; // Of all arms together. Seconds are those of the clock.
    int explains;              // Logs what the race is, and what it is predicted to cost.

    // Called after each case, with those that were taken and those that the budget allows; a status
    // that is not TAPML_OK ends it.
    tapml_status (*progress)(void *user, size_t done, size_t all);
    void *user;
};

struct ranking_arm {
    const char *name;
    const struct race_arm *race;
    size_t failed, unsupported; // Of the cases that were taken; skipped ones are unsupported.
};

struct ranking {
    struct contest contest;
    struct ranking_arm *arms; // As those of the race.
};

// Ranks. The result is in `arena`.
tapml_status ranking_make(const struct ranking_options *options,
                          struct arena *arena,
                          struct ranking *out_ranking) STATUS_USED;
