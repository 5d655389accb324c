// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What it would cost to move one kind of operators of the best plan: back to the source, or from
// the source to where it costs least. The edits that matter most say why a plan is as it is.
//
// One thread. Failures are those of choose/plan_pool.h.
#pragma once

#include "choose/plan_model.h"
#include "choose/plan_pool.h"
#include "choose/plan_units.h"

enum { PLAN_EDITS = 2 };

struct plan_edit {
    const char *unit;         // The kind: "attention".
    uint8_t place;            // To which it moves.
    struct plan_trial *trial; // The edited plan.
    double change;            // Of the value, as a share of that of the best: 0.12 is worse.
    int is_measured;          // Else predicted.
};

struct plan_edits {
    struct plan_edit items[PLAN_EDITS]; // The largest change first.
    size_t count;
};

// Finds the edits of `best` whose predicted change is largest, either way, of those that fit.
tapml_status plan_edits_find(struct plan_pool *pool,
                             const struct plan_units *units,
                             const struct plan_model *model,
                             const struct plan_trial *best,
                             struct plan_edits *out_edits) STATUS_USED;

// Takes what was measured of them in the place of what is predicted.
void plan_edits_settle(struct plan_edits *io_edits, const struct plan_trial *best);
