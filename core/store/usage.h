// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Table `usage`: what each start of a host has held of a place, for how long and at what rate. One
// row for each run (table `run`) and place, written anew while the run goes on, so that a host that
// is killed leaves what its last finished job came to.
//
// A store and what is read from it belong to one thread. What is read is in the arena that is
// given, with all texts. Failures are those of the store, which name it, and TAPML_NO_MEMORY.
#pragma once

#include "base/rate.h"
#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

struct arena;
struct store;

// Kept cases that one start has replayed on a place. Times are nanoseconds.
struct usage_cases {
    int64_t count;
    int64_t limits;    // Limits that were measured on the way, on other devices: a start that finds
                       // them takes less time.
    int64_t whole_ns;  // From the first case to the verdict of the last one; of it
    int64_t busy_ns;   // that in which the place had work, and
    int64_t calls_ns;  // that of the calls (`result.time_ns`).
    int64_t bytes;     // To the place and back.
    int64_t firsts;    // Those that were the first of their op that this start has replayed,
    int64_t firsts_ns; // and what they took, of `whole_ns`.
};

struct usage_row {
    const char *run;    // Of a row that was read; one that is written is of this connection's.
    const char *place;  // "source", or the name of a target.
    const char *device; // Component and device, as of a result,
    const char *driver; // and this.
    struct rate rate;
    int64_t began_s;  // When its opening began, in seconds since 1970.
    int64_t start_ns; // Opening it and what comes before its first case (run/place_usage.h); -1: it
                      // had none.
    int64_t held_ns;  // From there until its jobs were done,
    int64_t busy_ns;  // and how long it had work in that time.
    int64_t bytes;    // To the place and back; -1: not known.
    struct usage_cases cases;
};

// Writes a row in the place of an earlier one of the same run and place, in the transaction at
// hand.
tapml_status usage_write(struct store *store, const struct usage_row *row) STATUS_USED;

// The rows of a place, or of all for NULL: by place, and of each by the time of the start.
tapml_status usage_list(struct store *store,
                        const char *place,
                        struct arena *arena,
                        struct usage_row **out_rows,
                        size_t *out_count) STATUS_USED;

// What results of the run of this connection say of a target: how many, and the time of their
// calls in nanoseconds; and how many limits the store has.
tapml_status usage_count_results(struct store *store,
                                 const char *target,
                                 int64_t *out_count,
                                 int64_t *out_calls_ns) STATUS_USED;
tapml_status usage_count_limits(struct store *store, int64_t *out_count) STATUS_USED;
