// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Table `step`: a row for every attempt of an offload, so that an interrupted one continues after
// the last finished step, and anyone can read how the plan came about.
//
// A store and what is read from it belong to one thread. What is read is in the arena that is
// given, with all texts, and lives as long as that. Failures are those of the store, which name
// it, and TAPML_NO_MEMORY. Times are nanoseconds, moments seconds since 1970.
#pragma once

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

struct arena;
struct store;

// The values of the column `verdict`.
#define STEP_KEPT        "kept"        // The plan agrees as it was moved.
#define STEP_REVERTED    "reverted"    // It agrees without what was blamed.
#define STEP_UNEXPLAINED "unexplained" // It diverges, and no op could be blamed for that.
#define STEP_BLAMED      "blamed"      // An op was, by a search.
#define STEP_AGREES      "agrees"
#define STEP_DIVERGES    "diverges"
#define STEP_JUDGED      "judged" // Every call of a run was.
#define STEP_PASSED      "passed" // The driver did, in a check.
#define STEP_FAILED      "failed" // It did not.

struct step_row {
    int64_t id;          // Given by the table.
    const char *target;  // "gpu"
    const char *step;    // "move linear", "search move linear 3", "prove move linear", "final",
                         // "driver check at the begin"
    const char *verdict; // STEP_KEPT ...
    const char *reason;  // A sentence, or "".
    const char *plan;    // As text, after the step.
    double margin;       // observed / limit; NaN where there is none.
    uint64_t time_ns;
};

// Writes one row as one transaction.
tapml_status step_add(struct store *store, const struct step_row *item) STATUS_USED;

// The last row of `target` with that step, in `arena`. TAPML_NOT_FOUND where there is none.
tapml_status step_find(struct store *store,
                       const char *target,
                       const char *step,
                       struct arena *arena,
                       struct step_row *out_row) STATUS_USED;

// The last row of `target` that moved ops or ended the offload, in `arena`. `*out_has` is 0 if
// there is none.
tapml_status step_find_settled(struct store *store,
                               const char *target,
                               struct arena *arena,
                               struct step_row *out_row,
                               int *out_has) STATUS_USED;

// Forgets all rows of a target, whose plugin is another one than it was.
tapml_status step_forget(struct store *store, const char *target) STATUS_USED;

// All rows of a target in their order, without their plans, in `arena`.
tapml_status step_list(struct store *store,
                       const char *target,
                       struct arena *arena,
                       struct step_row **out_items,
                       size_t *out_count) STATUS_USED;
