// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Table `offload`: what the offload to a target came to, written with its last step.
//
// A store and what is read from it belong to one thread. What is read is in the arena that is
// given, with all texts, and lives as long as that. Failures are those of the store, which name
// it, and TAPML_NO_MEMORY. Times are nanoseconds.
#pragma once

#include "base/status.h"

#include <stdint.h>

struct arena;
struct store;

// Op executions, by what they were for. Those of an interrupted start are not counted.
struct offloaded_cost {
    uint64_t carving;     // Calls of the carving run, to compare with.
    uint64_t moves;       // Runs that judged a move.
    uint64_t replays;     // Kept cases from the first that failed on.
    uint64_t looks;       // Shadow and cumulative runs after a divergence,
    uint64_t search;      // runs of other plans,
    uint64_t repeats;     // of cases that failed,
    uint64_t proof;       // of the plan without the blamed ops.
    uint64_t watched;     // Shadow and cumulative runs that are made at any rate.
    uint64_t calibrating; // On other devices.
};

struct offloaded_row {
    const char *target;
    int64_t finished_s; // In seconds since 1970, after the times were measured; 0 until then.
    int agrees;         // The model under `plan`, end to end.
    double margin;      // Of that: observed / limit.
    const char *sentence;
    const char *unexplained; // A divergence that no op could be blamed for, or "".
    const char *plan;        // As text.
    uint64_t checks;         // Of each suspect, where an op failed only sometimes; else 0.
    uint64_t proof_runs;     // That agreed with the blamed ops on the source.
    double proof_miss;       // The chance that they agree with an op left that fails sometimes.
    struct offloaded_cost cost;
};

// Writes or replaces the row of a target.
tapml_status offloaded_write(struct store *store, const struct offloaded_row *item) STATUS_USED;

// Marks the offload to `target` as finished now, by the time of day.
tapml_status offloaded_finish(struct store *store, const char *target) STATUS_USED;

// The row of a target, in `arena`. TAPML_NOT_FOUND where its offload has no last step.
tapml_status offloaded_find(struct store *store,
                            const char *target,
                            struct arena *arena,
                            struct offloaded_row *out_item) STATUS_USED;

// Forgets the row of a target.
tapml_status offloaded_forget(struct store *store, const char *target) STATUS_USED;

// Op executions to find what to blame: replays, looks, search, repeats and proof.
uint64_t offloaded_localising(const struct offloaded_cost *cost);
