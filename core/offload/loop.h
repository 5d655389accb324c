// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The offload loop of one target: from a plan with all ops on the source to the largest correct
// plan.
//
// An op that fails alone, in a kept or a derived case, is blamed and stays on the source, and with
// one that fails in a derived case alone the others of its kernel (offload/kindred.h). The
// others move by op kind, the most expensive first. After each move the hybrid model is judged end
// to end, unless the target has refused every case of the kind, so that nothing changes. If the
// model diverges, offload/localise finds the ops that cause it, and they move back to the source.
// At the end every call of the first prompt is judged in a shadow run, for errors that are too
// small to show at the end of the model. Then all prompts are judged: with the blamed ops on the
// source the model agrees, which proves the blame; this is repeated if one of them fails only
// sometimes. Every attempt is a row of the table `step`, and a second start does not repeat
// finished steps.
//
// In the modes shadow and cumulative nothing moves kind by kind: every call of a run over all
// prompts is judged (offload/watch), and the remaining ops are moved at once and proved.
//
// One thread. Failures are those of running the model and of the store; a wrong target is a result.
#pragma once

#include "exec/session.h"
#include "offload/judge.h"
#include "offload/localise.h"
#include "offload/order.h"
#include "store/step.h"
#include "verify/verdict.h"

enum loop_mode { LOOP_MIXED, LOOP_SHADOW, LOOP_CUMULATIVE };

// The progress of a loop in prompts: those judged after each move, watched, and judged at the end.
// Prompts that a search judges are not counted.
struct loop_progress {
    const char *step; // The step that begins: "move linear".
    size_t done;      // Prompts before this step.
    size_t skipped;   // Of `done`, those of an earlier start.
    size_t all;       // Prompts of all steps.
};

struct loop_options {
    const struct graph *graph;
    struct store *store;
    struct session *session; // Over the source and the target, in this order. Borrowed.
    struct judge *judge;
    const char *target;      // Name of its place.
    const struct plan *goal; // What the target is to run; the loop moves nothing else.
    const struct verdict_list *verdicts;
    struct watch *watch; // NULL: no watched runs; the mode is LOOP_MIXED.
    enum loop_mode mode;
    struct policy *policy; // Of a plugin: another order of kinds; or NULL.
    size_t move_prompts;   // Judged after a move; one, of what all its cases have proved.
    size_t all_prompts;    // Judged at the end.
    uint64_t calibrations; // Op executions for limits that were found before, for the report.

    // Called at the beginning of each step. Or NULL.
    tapml_status (*progress)(void *user, const struct loop_progress *progress);

    // Called after each prompt that is judged: a status that is not TAPML_OK ends the loop; the
    // next start resumes after the last finished step. Or NULL.
    judge_progress_fn check;
    void *user;
};

// The number of instances that the goal assigns to the target, and of those that run there at the
// end.
struct loop_counts {
    size_t wanted, moved;
};

// Runs the offload, or resumes it after its last finished step, and writes its result: the rows of
// the target in `offload` and `blame`, in one transaction with the last step.
tapml_status loop_run(const struct loop_options *options,
                      struct loop_counts *out_counts) STATUS_USED;
