// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What the looks of `tapml-host watch` at a run have recorded (store/looked.h), as the history of
// each case: since when it was stale, which look saw it, and what had become of it. A simulation
// tries other triggers on it.
//
// All of it is in the arena that is given. A store belongs to one thread. Failures are those of the
// store and TAPML_NO_MEMORY. Times are seconds.
#pragma once

#include "store/looked.h"
#include "watch/turning.h"

enum recorded_cause { RECORDED_NEW, RECORDED_CHANGE, RECORDED_SAMPLE, RECORDED_RUN, RECORDED_GONE };

#define RECORDED_NONE SIZE_MAX

// What a look saw of a case. What it found holds from the look `onset` on, at which the case became
// stale; a later look that saw it says nothing of the time between.
struct recorded_event {
    const struct looked_row *row;
    enum recorded_cause cause;
    size_t look, onset;
    enum turning_rank after; // Of `row->after`; without a meaning where the case is gone.
    size_t regression;       // That it is a part of, or RECORDED_NONE.
};

struct recorded_look {
    int64_t at_s; // When it began.
    int64_t everything;
    size_t *onsets; // Indices of the events that hold from it on.
    size_t onset_count;
};

// The cases of an op on a target.
struct recorded_group {
    size_t target;
    const char *op;
};

struct recorded_case {
    const char *key;
    size_t group;
    double cost_s;
    size_t event_begin, event_end; // In their order.
};

// The verdicts on an op of a target that were worse at a look.
struct recorded_regression {
    size_t look, group;
    size_t onset; // The first of its cases'.
};

struct recorded {
    struct store *store; // Borrowed.
    const char **targets;
    size_t target_count;
    struct recorded_look *looks; // From the first that has rows on.
    size_t look_count;
    struct recorded_group *groups;
    size_t group_count;
    struct recorded_case *cases;
    size_t case_count;
    struct recorded_event *events; // Case by case.
    size_t event_count;
    struct recorded_regression *regressions;
    size_t regression_count;

    size_t looks_before;     // That have no rows any more.
    int64_t turned_unseen;   // Verdicts that were worse without a row: those of drivers.
    size_t predicted, timed; // Cases whose cost is predicted from their features, and whose last
                             // time it is; others cost REGRET_CASE_S.
};

struct arena;

// Reads what a store knows. TAPML_NOT_FOUND if no look has recorded anything.
tapml_status
recorded_read(struct store *store, struct arena *arena, struct recorded *out_recorded) STATUS_USED;

// The order in which cases of a target run, worst risk first (CHOICE_COVER of choose/choice.h), as
// their places in `out_places`, one for each case. `failures` has the share of the cases of each
// group that have failed. Those of cases that the store does not have any more are RECORDED_LAST or
// above.
#define RECORDED_LAST (SIZE_MAX / 2)
tapml_status recorded_order(const struct recorded *recorded,
                            size_t target,
                            const double *failures,
                            size_t *out_places) STATUS_USED;
