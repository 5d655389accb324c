// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The offload loop of one target: from all on the source to the largest plan that is right.
//
// An op that fails alone, in a kept or a derived case, is blamed and stays on the source. The
// others move by op kind, the most expensive first. After each move the hybrid model is judged end
// to end, unless the target has refused every case of the kind: then nothing changes. If the model
// diverges, offload/localise finds the ops that cause it, and they go back to the source. At the
// end every call of the first prompt is judged in a shadow run, for errors that are too small to
// show at the end of the model. Then all prompts are judged: with the blamed ops on the source the
// model agrees, which proves the blame; this is repeated if one of them fails only sometimes. Every
// attempt is a row of the table `step`, and a second start does not repeat finished steps.
//
// In the modes shadow and cumulative nothing moves kind by kind: every call of a run over all
// prompts is judged (offload/watch), and what is left is moved at once and proved.
//
// One thread. Failures are those of running the model and of the store; a target that is wrong is
// a result.
#pragma once

#include "exec/session.h"
#include "offload/judge.h"
#include "offload/localise.h"
#include "offload/order.h"
#include "store/step.h"
#include "verify/verdict.h"

enum loop_mode { LOOP_MIXED, LOOP_SHADOW, LOOP_CUMULATIVE };

// How far a loop is, in prompts: those that are judged after each move, watched, and judged at the
// end. What a search judges comes on top of them.
struct loop_progress {
    const char *step; // That begins: "move linear".
    size_t done;      // Before this step,
    size_t skipped;   // of these by an earlier start,
    size_t all;       // of so many.
};

struct loop_options {
    const struct graph *graph;
    struct store *store;
    struct session *session; // Over the source and the target, in this order. Borrowed.
    struct judge *judge;
    const char *target;      // Name of its place.
    const struct plan *goal; // What is wanted on the target; the loop moves nothing else.
    const struct verdict_list *verdicts;
    struct watch *watch; // NULL: only plans are searched for a divergence; the mode is mixed.
    enum loop_mode mode;
    size_t move_prompts;   // Judged after each move.
    size_t all_prompts;    // Judged at the end.
    uint64_t calibrations; // Op executions for limits that were found before, for the report.

    // Called at the beginning of each step. Or NULL.
    tapml_status (*progress)(void *user, const struct loop_progress *progress);

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
