// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// All rows of a store about one target whose offload has ended, and where they put each instance.
#pragma once

#include "store/blame.h"
#include "store/bundled.h"
#include "store/instance.h"
#include "store/invariant.h"
#include "store/offloaded.h"
#include "store/step.h"
#include "store/target.h"
#include "store/timing.h"
#include "verify/verdict.h"

// Where an instance is under the final plan.
enum report_place {
    REPORT_ON_TARGET,
    REPORT_BLAMED, // On the source, as are those that follow.
    REPORT_UNSUPPORTED,
    REPORT_NOT_JUDGED, // The driver of the target is wrong.
    REPORT_UNWANTED    // The user's plan leaves it there.
};

struct report_rows {
    struct store *store; // Borrowed.
    struct arena *arena; // Of all that follows.
    int has_model;       // 0: a run over cases, in which nothing was judged end to end.
    struct target_row target;
    struct offloaded_row offload;
    struct instance_row *instances; // In the order of the graph.
    enum report_place *places;      // One for each of them.
    size_t instance_count;
    struct blame_row *blames;
    size_t blame_count;
    const struct blame_row *driver; // Of them, the one about the driver; NULL: it is not blamed.
    struct timing_row *times;
    size_t time_count;
    struct bundled_row *bundles;
    size_t bundle_count;
    struct step_row *steps;
    size_t step_count;
    struct invariant_row *invariants;
    size_t invariant_count;
    struct verdict_list verdicts; // Of kept cases that were run, and of derived ones.
    size_t not_run;               // Kept cases that have no result.

    // Instances.
    size_t wanted;      // The goal gives them to the target.
    size_t moved;       // Of those, what runs there.
    size_t blamed;      // Of those, what fails.
    size_t unsupported; // Of those, what the target does not have.
};

// Reads the rows of `target`, one of the run's. TAPML_NOT_FOUND if its offload has not ended. The
// caller releases what it gets.
tapml_status
report_rows_read(struct store *store, const char *target, struct report_rows *out_rows) STATUS_USED;
void report_rows_release(struct report_rows *rows);

// Whether something is wrong with the target, so that a run ends with 1.
int report_rows_is_wrong(const struct report_rows *rows);

// The verdict on the target: "wrong"; else "incomplete" if results are stale, so that they say
// nothing of what it is now; else "right". Static.
const char *report_rows_verdict(const struct report_rows *rows);

// The row about an instance, or about an op; or NULL.
const struct blame_row *report_rows_blame(const struct report_rows *rows, const char *instance);
const struct bundled_row *report_rows_bundle(const struct report_rows *rows, const char *instance);
const struct timing_row *report_rows_time(const struct report_rows *rows, const char *op);
