// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What this start of the host has held of a place, as a row of the store (store/usage.h): the time
// since its opening began, how long it had work (exec/timed.h), the bytes that went there, the rate
// of the run's file, and what replaying the kept cases took.
//
// One thread. Failures are those of the store.
#pragma once

#include "base/rate.h"
#include "exec/timed.h"
#include "store/usage.h"

struct place;
struct run_config;
struct verdict_list;

// All that the moments below say is kept here; nothing is owned.
struct place_usage {
    struct store *store;
    const struct place *place;
    struct rate rate;
    struct usage_cases cases;
    uint64_t jobs_ns;   // When its jobs began,
    uint64_t before_ns; // and what came before the first case was replayed; 0: none was.

    // When replaying began, 0: it has not; with the results and limits that there were.
    uint64_t begin_ns;
    struct timed_figures begin;
    int64_t results, calls_ns, limits;
    const struct verdict_list *verdicts; // Of this replay.

    // When the last kept case was judged; 0: it was not yet.
    uint64_t end_ns;
    struct timed_figures end;
    int64_t end_limits;
};

// Begins the account of an open place, whose rate is that of its section, as its jobs begin. A
// start of a target is its opening and what comes before the first case: checks of its driver, and
// limits of a shard. What lies between the two is a part of it for a member of a pool alone, which
// has nothing else to do; in another run it is carving. That of the source is its opening and its
// first call.
void place_usage_begin(struct place_usage *usage,
                       struct store *store,
                       const struct place *place,
                       const struct run_config *config,
                       int is_member);

// Around the replay of the kept cases: before it, and when the last one has been judged, or where
// no derived cases follow when all results are written; the later end counts. Derived cases do not
// count as replays. The end of one that had no begin is no end. `verdicts` outlives the account.
tapml_status place_usage_begin_cases(struct place_usage *usage,
                                     const struct verdict_list *verdicts) STATUS_USED;
tapml_status place_usage_end_cases(struct place_usage *usage) STATUS_USED;

// Writes the row as it is by now, in a transaction of its own. A place that keeps no account, as
// where another module has made its chain, has none.
tapml_status place_usage_note(struct place_usage *usage) STATUS_USED;
