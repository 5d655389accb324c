// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The offload loop of one target: from all on the source to the largest plan that is right.
//
// What fails alone, in a kept or a derived case, is accused and stays on the source. The rest moves
// by op kind, dearest first, and after each move the hybrid model is judged end to end; where it
// departs, offload/localise finds who does it, and they go back. At the end every call of the first
// prompt is judged in the shadow, for what comes late and is too small to be seen at the end, and
// then all prompts are judged:
// with the accused on the source the model agrees, which proves the accusations; as often as it
// takes where one fails only sometimes. Every attempt is a row of the table `step`, and finished
// steps are not repeated by a second start.
//
// In the modes shadow and cumulative nothing moves kind by kind: every call of a run over all
// prompts is judged (offload/watch), and what is left is moved at once and proved.
#pragma once

#include "exec/session.h"
#include "offload/judge.h"
#include "offload/localise.h"
#include "offload/order.h"
#include "store/step.h"
#include "verify/verdict.h"

enum loop_mode { LOOP_MIXED, LOOP_SHADOW, LOOP_CUMULATIVE };

struct loop_options {
    const struct graph *graph;
    struct store *store;
    struct session *session; // Over the source and the target, in this order. Borrowed.
    struct judge *judge;
    const char *target;      // Name of its place.
    const struct plan *goal; // What is wanted on the target; the loop moves nothing else.
    const struct verdict_list *verdicts;
    struct watch *watch; // NULL: departures are searched for by plans alone, and the mode is mixed.
    enum loop_mode mode;
    size_t move_prompts;   // Judged after each move.
    size_t all_prompts;    // Judged at the end.
    uint64_t calibrations; // Op executions for limits that were found before, to be told.

    // Called with the step at hand and how far all steps are. Or NULL.
    tapml_status (*progress)(void *user, const char *step, size_t done, size_t all);

    // Called after each prompt that is judged: a status that is not TAPML_OK ends the loop, which
    // goes on from its last finished step at the next start. Or NULL.
    judge_progress_fn check;
    void *user;
};

// Instances that the goal gives to the target, and how many of them run there in the end.
struct loop_counts {
    size_t wanted, moved;
};

// Runs the offload, from its last finished step on where there is one, and writes what it came to:
// the rows of the target in `offload` and `blame`, in one transaction with the last step.
tapml_status loop_run(const struct loop_options *options,
                      struct loop_counts *out_counts) STATUS_USED;
