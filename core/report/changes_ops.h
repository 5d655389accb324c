// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The ops of the targets of several runs (report/history.h): how many of their cases have flipped,
// and whether their times have moved beyond their noise (report/time_noise.h).
#pragma once

#include "report/changes_flip.h"
#include "report/time_noise.h"

struct changes_op {
    const char *target, *op; // `op` is "" in the row of a target as a whole.
    size_t cases;            // That the last run has, and one before it.
    size_t flips[CHANGES_FLIPS];
    size_t crept;
    struct time_noise_group times; // Of an op.
    struct time_noise_change change;
};

// The rows in the order of the cases, an op behind its target.
struct changes_ops {
    struct arena *arena;
    struct changes_op *items;
    size_t count, capacity;
    double *controls; // Of each run: the shift of the source's own calls; NaN if it is not known.
};

// A margin has crept if at least this part of its room is gone.
#define CHANGES_OPS_CREEP 0.1

// The caller releases the rows. TAPML_NO_MEMORY.
tapml_status changes_ops_make(const struct history *history,
                              struct changes_ops *out_ops) STATUS_USED;
void changes_ops_release(struct changes_ops *ops);
