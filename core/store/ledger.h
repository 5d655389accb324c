// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The ledger: a row for every attempt of an offload, so that an interrupted one goes on from the
// last finished step, and anyone can read how the plan came about.
#pragma once

#include "base/status.h"
#include "store/store.h"

struct ledger_row {
    int64_t id;          // Given by the ledger.
    const char *target;  // "gpu"
    const char *step;    // "move linear", "search move linear 3", "prove move linear", "final"
    const char *verdict; // "kept", "taken back", "unexplained", "accused", "agrees", "departs"
    const char *reason;  // A sentence, or "".
    const char *plan;    // As text, after the step.
    double margin;       // observed / limit; NaN where there is none.
    uint64_t time_ns;
};

// Writes one row as one transaction.
tapml_status ledger_add(struct store *store, const struct ledger_row *item) STATUS_USED;

// The last row of `target` with that step, in `arena`. TAPML_NOT_FOUND where there is none.
struct arena;
tapml_status ledger_find(struct store *store,
                         const char *target,
                         const char *step,
                         struct arena *arena,
                         struct ledger_row *out_row) STATUS_USED;

// Forgets all rows of a target, whose plugin is another one than it was.
tapml_status ledger_forget(struct store *store, const char *target) STATUS_USED;
