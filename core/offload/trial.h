// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The current plan while a target is offloaded, and its judging. Marks on the ops say which are
// wanted, moved, blamed or held back; the plan's text follows from them.
//
// One thread. Failures are those of the judge and TAPML_NO_MEMORY.
#pragma once

#include "base/text.h"
#include "exec/session.h"
#include "offload/judge.h"
#include "offload/order.h"
#include "verify/verdict.h"

// The evidence against a blamed op itself.
enum trial_evidence {
    TRIAL_CASE,    // A kept case fails.
    TRIAL_DERIVED, // A case derived from a kept one fails.
    TRIAL_CALL,    // A call of a watched run failed (offload/watch).
    TRIAL_TOGETHER // Nothing by itself: the model diverges with it and agrees without it.
};

// The value of the column `evidence` of the table `blame`. Static.
const char *trial_evidence_name(enum trial_evidence evidence);

struct trial_mark {
    uint8_t is_wanted; // The goal assigns it to the target, in some phase.
    uint8_t is_blamed; // It stays on the source.
    uint8_t is_held;   // It stays on the source for one trial of a search.

    // Of blamed ops.
    enum trial_evidence evidence;
    struct verdict verdict; // Of the failure; `case_id` is 0 if there is no case.
    uint64_t tried, failed; // Replays and calls so far; fewer failures if it is intermittent.
    int is_repeated;        // The failure was repeated, to see whether it is intermittent.
    int is_alone;           // It fails by itself, outside of a run.
};

struct trial {
    const struct graph *graph; // All but arena, marks and text are borrowed.
    struct session *session;
    struct judge *judge;
    const struct plan *goal;
    const char *target;
    const struct order_kind *kinds;
    size_t kind_count;
    size_t moved_kinds;      // The first so many of `kinds` are moved.
    size_t prompts;          // Judged by `trial_judge`.
    judge_progress_fn check; // Called after each prompt. Or NULL.
    void *user;
    struct arena *arena;
    struct trial_mark *marks; // One for each op.
    struct text plan_text;    // Of the plan that was judged last.
};

// Allocates the marks and marks the ops that the goal assigns to the target. The caller has set the
// borrowed members, the counts and `arena`.
tapml_status trial_init(struct trial *trial) STATUS_USED;
void trial_release(struct trial *trial); // Not the arena.

// Writes `plan_text`: the goal, with kinds that are not moved yet and instances that are blamed or
// held back on the source.
tapml_status trial_write_plan(struct trial *trial) STATUS_USED;

// Makes the current plan. The caller owns it.
tapml_status trial_plan(struct trial *trial, struct plan **out_plan) STATUS_USED;

// Sets the current plan of the session, and judges it over the first `prompts` prompts, or over the
// first steps of one prompt.
tapml_status trial_judge(struct trial *trial, struct judge_result *out_result) STATUS_USED;
tapml_status trial_judge_prompt(struct trial *trial,
                                size_t prompt,
                                int64_t steps,
                                struct judge_result *out_result) STATUS_USED;

// The index of an op's kind in `kinds`.
size_t trial_kind_of(const struct trial *trial, uint32_t op);

// Lists the instances that are on the target now, of one kind or (kind_count) of all, in the order
// of the graph. `out_ops` has room for all ops. Returns how many there are.
size_t trial_list_moved(const struct trial *trial, size_t kind, uint32_t *out_ops);

// Blames an op, or replaces the evidence of a blamed one if the new is better: a failure by itself
// before any other, then the larger margin. Texts of the verdict that are not static are copied; a
// recipe is borrowed. `when` is put before the reason.
tapml_status trial_blame(struct trial *trial,
                         uint32_t op,
                         enum trial_evidence evidence,
                         const struct verdict *verdict,
                         const char *when) STATUS_USED;

// The number of blamed ops.
size_t trial_count_blamed(const struct trial *trial);
