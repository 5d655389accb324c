// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What other triggers, another ensemble or another budget would have replayed of the changes that a
// watched run has recorded, and when they would have found its regressions.
//
// A simulated host looks whenever the recorded one has written a row, and between at an interval.
// At a look, cases become stale as they did; triggers decide on that (watch/trigger.h); what runs
// has the verdict that was found for the time. A case that runs before the recorded host ran it has
// an unknown one, as has one that only samples would have run.
//
// Pure but for `recorded_order`. Failures are TAPML_NO_MEMORY and those of the store.
#pragma once

#include "config/watch_settings.h"
#include "watch/recorded.h"

struct simulation_policy {
    struct watch_settings settings; // Of them the triggers, the ensemble and the budget.
    double interval_s;
    int is_everything; // All cases run at each recorded look, whatever the triggers say.
};

enum simulation_end {
    SIMULATION_MISSED,  // All of its cases were mended or gone before they ran.
    SIMULATION_OPEN,    // Some have not run when the records end.
    SIMULATION_UNKNOWN, // It would have run when the records say no verdict.
    SIMULATION_FOUND,
    SIMULATION_ENDS
};

struct simulation {
    int64_t looks;    // Of the simulated host, those at which something ran.
    int64_t replayed; // Cases without a fresh result,
    int64_t sampled;  // and samples.
    double seconds;   // Of both, predicted.

    // What became of the regressions, and how late those were found: in looks of the records, and
    // in seconds, since the case was stale.
    int64_t ends[SIMULATION_ENDS];
    int64_t late_looks, late_looks_max; // The sum of all, and the largest.
    double late_s, late_s_max;

    int64_t unknown;   // Replays whose verdict the records do not say.
    int64_t unordered; // Replays whose place in the order they do not: the case has gone.
    int64_t unsampled; // Looks of which no sample is recorded, though a trigger asks for some.
};

tapml_status simulation_run(const struct recorded *recorded,
                            const struct simulation_policy *policy,
                            struct simulation *out_simulation) STATUS_USED;
