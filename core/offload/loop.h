// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The offload loop of one target: from all on the source to the largest plan that is right.
//
// What fails alone is accused and stays on the source. The rest moves by op kind, dearest first;
// after each move the hybrid model is judged end to end; where it departs, ddmin finds the
// instances of the move that make it depart, and they go back. Before the first such search every
// kept case is replayed several times more, which finds what fails only sometimes. At the end all
// prompts are judged: with the accused on the source the model agrees, which proves the
// accusations. Every attempt is a row of the ledger, and finished steps are not repeated by a
// second start.
#pragma once

#include "carve/ledger.h"
#include "exec/session.h"
#include "offload/judge.h"
#include "offload/order.h"
#include "verify/verdict.h"

struct loop_options {
    const struct graph *graph;
    struct store *store;
    struct session *session; // Over the source and the target, in this order. Borrowed.
    struct judge *judge;
    const char *target;      // Name of its place.
    const struct plan *goal; // What is wanted on the target; the loop moves nothing else.
    const struct verdict_list *verdicts;
    size_t move_prompts; // Judged after each move.
    size_t all_prompts;  // Judged at the end.

    // Replays every kept case once more, whatever the store knows of it; the loop releases the
    // list. NULL: what fails only sometimes is searched for end to end alone.
    tapml_status (*replay)(void *user, struct verdict_list *out_list);
    uint32_t repeats; // Times that `replay` is called.

    // Called with the step at hand and how far all steps are. Or NULL.
    tapml_status (*progress)(void *user, const char *step, size_t done, size_t all);

    // Called after each prompt that is judged: a status that is not TAPML_OK ends the loop, which
    // goes on from its last finished step at the next start. Or NULL.
    judge_progress_fn check;
    void *user;
};

struct loop_accusation {
    uint32_t op;  // In the graph.
    int is_alone; // It fails alone, in a replayed case; else only together with others.
    double margin;
    const char *reason;
};

struct loop_result {
    struct arena *arena;
    struct plan *plan;
    struct loop_accusation *accused; // In the order of the graph.
    size_t accused_count;
    uint32_t moved_count;   // Instances on the target under the plan.
    uint32_t refused_count; // Of those, refused by the target: they ran on the source.
    uint32_t wanted_count;  // Instances that the goal gives to the target.
    uint32_t repeats;       // Replays of all cases that the search made; 0 where none was needed.
    struct judge_result judged;
    uint64_t time_ns;
};

// The caller releases the result.
tapml_status loop_run(const struct loop_options *options,
                      struct loop_result *out_result) STATUS_USED;
void loop_result_release(struct loop_result *result);
