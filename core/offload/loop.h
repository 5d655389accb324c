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
// takes where one fails only sometimes. Every attempt is a row of the ledger, and finished steps
// are not repeated by a second start.
//
// In the modes shadow and cumulative nothing moves kind by kind: every call of a run over all
// prompts is judged (offload/watch), and what is left is moved at once and proved.
#pragma once

#include "exec/session.h"
#include "offload/judge.h"
#include "offload/localise.h"
#include "offload/order.h"
#include "store/ledger.h"
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
    size_t move_prompts; // Judged after each move.
    size_t all_prompts;  // Judged at the end.

    // Called with the step at hand and how far all steps are. Or NULL.
    tapml_status (*progress)(void *user, const char *step, size_t done, size_t all);

    // Called after each prompt that is judged: a status that is not TAPML_OK ends the loop, which
    // goes on from its last finished step at the next start. Or NULL.
    judge_progress_fn check;
    void *user;
};

struct loop_accusation {
    uint32_t op;  // In the graph.
    int is_alone; // Something fails by itself; else it departs only together with others.
    double margin;
    const char *reason;
    enum trial_evidence evidence;
    const struct verdict *verdict; // Of what fails; `case_id` is 0 where there is no case.
    uint64_t tried, failed;        // How often; an op that fails sometimes has failed less often.
};

// Op executions, beside those of the carving run, which are counted as 1.
struct loop_cost {
    uint64_t carving;
    uint64_t moves;              // Runs that judged a move.
    uint64_t replays;            // Kept cases from the first that failed on.
    struct localise_cost search; // What came after a departure, with the proof.
    uint64_t watched;            // Watched runs that are made whether something departs or not.
    uint64_t localising;         // `replays` and all of `search` but calibrations.
    uint64_t calibrating;        // Apart.
};

struct loop_result {
    struct arena *arena;
    struct plan *plan;
    struct loop_accusation *accused; // In the order of the graph.
    size_t accused_count;
    struct verdict *verdicts; // One for each of them.
    uint32_t moved_count;     // Instances on the target under the plan.
    uint32_t refused_count;   // Of those, refused by the target: they ran on the source.
    uint32_t wanted_count;    // Instances that the goal gives to the target.
    const char *unexplained;  // A departure that nobody could be accused of; or NULL.
    uint64_t checks;          // Of each suspect, where something failed only sometimes; else 0.
    unsigned proof_runs;      // That agreed with the accused on the source.
    double proof_miss; // The chance that they agree with one still there that fails sometimes.
    struct loop_cost cost;
    struct judge_result judged;
    uint64_t time_ns;
};

// The caller releases the result.
tapml_status loop_run(const struct loop_options *options,
                      struct loop_result *out_result) STATUS_USED;
void loop_result_release(struct loop_result *result);
