// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The plan at hand while a target is offloaded: what is wanted, moved, blamed or held back, as
// marks on the ops, from which the plan's text follows; and judging it.
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

// As the column `evidence` of the table `blame` has it.
const char *trial_evidence_name(enum trial_evidence evidence);

struct trial_mark {
    uint8_t is_wanted; // The goal gives it to the target, in some phase.
    uint8_t is_blamed; // It stays on the source.
    uint8_t is_held;   // It stays on the source for one trial of a search.

    // Of blamed ops.
    enum trial_evidence evidence;
    struct verdict verdict; // Of what fails; `case_id` is 0 where there is no case.
    uint64_t tried, failed; // Replays and calls so far: what fails sometimes has failed less often.
    int is_repeated;        // It was tried whether it fails each time.
    int is_alone;           // What fails does so by itself, outside of a run.
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
    judge_progress_fn check; // Called after each of these. Or NULL.
    void *user;
    struct arena *arena;
    struct trial_mark *marks; // One for each op.
    struct text plan_text;    // Of the plan that was judged last.
};

// Takes what is set of `trial`, and marks what the goal wants.
tapml_status trial_init(struct trial *trial) STATUS_USED;
void trial_release(struct trial *trial); // Without the arena.

// The goal, with kinds that wait and instances that are blamed or held back on the source, as
// `plan_text`.
tapml_status trial_write_plan(struct trial *trial) STATUS_USED;

// The plan as it stands. The caller owns it.
tapml_status trial_plan(struct trial *trial, struct plan **out_plan) STATUS_USED;

// Makes the session run the plan as it stands, and judges it over the prompts at hand, or over the
// first steps of one.
tapml_status trial_judge(struct trial *trial, struct judge_result *out_result) STATUS_USED;
tapml_status trial_judge_prompt(struct trial *trial,
                                size_t prompt,
                                int64_t steps,
                                struct judge_result *out_result) STATUS_USED;

// The index of an op's kind.
size_t trial_kind_of(const struct trial *trial, uint32_t op);

// Instances that are on the target now, of one kind or (kind_count) of all, in order. `out_ops` has
// room for all ops. Returns how many there are.
size_t trial_list_moved(const struct trial *trial, size_t kind, uint32_t *out_ops);

// Blames an op, or gives one that is blamed better evidence: what fails by itself before
// what does not, then the larger margin. What is not static of the verdict's texts is copied, and a
// recipe is borrowed. `when` goes before the reason.
tapml_status trial_blame(struct trial *trial,
                         uint32_t op,
                         enum trial_evidence evidence,
                         const struct verdict *verdict,
                         const char *when) STATUS_USED;

size_t trial_count_blamed(const struct trial *trial);
