// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What a run waits for most: an operational model over the times and counts of its stages
// (store/stage.h), nothing else.
//
// Stages of one thread come one after another, so that a run without a stage is shorter by its
// time. Two things are not that simple. Where cases are replayed in windows (verify/replay_ahead.h)
// host and device work beside each other: a replay is never shorter than the longer of the two. And
// a wait for a worker has two parts, what the device does and the way there and back, which is paid
// once for each wait: windows make waits fewer. Targets that are done in turn would take the
// longest of their times side by side, as long as processors last.
//
// What is predicted holds for the same machine under the same load, for a run that begins anew.
// Nothing is allocated, no clock is read; functions of values. [any]
#pragma once

#include "base/stages.h"
#include "store/stage.h"

#include <stddef.h>
#include <stdint.h>

// What holds a stage.
enum bottleneck_bound {
    BOTTLENECK_PROCESSOR, // The host's own work.
    BOTTLENECK_MEMORY,    // What is kept is too little, so that it is made again.
    BOTTLENECK_BANDWIDTH, // Bytes.
    BOTTLENECK_LATENCY,   // Visits, whatever they move.
    BOTTLENECK_DEVICE,    // A device works.
    BOTTLENECK_WAITING    // The thread does not run: for a disk, or for other work.
};

// "processor"; static.
const char *bottleneck_bound_name(enum bottleneck_bound bound);

// The rows of a target, or of the run itself. Borrowed.
struct bottleneck_rows {
    const char *name;
    const struct stage_row *rows;
    size_t count;
};

enum { BOTTLENECK_TARGETS_MAX = 8 };

struct bottleneck_run {
    struct bottleneck_rows own;
    struct bottleneck_rows targets[BOTTLENECK_TARGETS_MAX];
    size_t target_count;
};

// What can be done about it.
enum bottleneck_remedy {
    BOTTLENECK_NOTHING,      // No key helps.
    BOTTLENECK_AHEAD,        // [check] ahead = `amount`
    BOTTLENECK_CACHE,        // [run] cache = `amount`
    BOTTLENECK_SIDE_BY_SIDE, // The option --side-by-side.
    BOTTLENECK_NO_COMPARERS, // [run] comparers goes.
    BOTTLENECK_NO_BUDGET     // `budget` of the target goes.
};

struct bottleneck {
    const char *stage;  // "read"; the name of a phase where that has no stages: "derive"; "turns":
                        // targets wait for each other.
    const char *target; // Of a device and the way to it; else "".
    const char *phase;  // In which most of it is spent.
    enum bottleneck_bound bound;
    uint64_t elapsed_ns; // Of the run, as far as there are rows.
    uint64_t time_ns;    // Of it, in the stage.
    uint64_t without_ns; // What the run would take if the stage took no time; where a disk is
                         // waited for, if that took none.
    enum bottleneck_remedy remedy;
    int64_t amount;
    uint64_t remedied_ns; // What the run would take with the remedy.
    int is_guess;         // That was not computed from what was measured alone.
};

// Finds it. 0 where there are no rows.
int bottleneck_find(const struct bottleneck_run *run, struct bottleneck *out_found);

// How long the run took: what is of the run itself, and of targets that it did in turn.
uint64_t bottleneck_elapsed_ns(const struct bottleneck_run *run);
