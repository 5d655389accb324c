// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Watches a run of the model: every call of an op is judged as it happens, by the calibrated limits
// of the replays.
//
// In the shadow, all runs on the source, whose results flow on, and each call is made once more on
// the target with the source's inputs. Cumulatively, the target's own results flow on, and the
// source makes each of its calls once more with the inputs that the target had. Both see calls that
// no kept case stands for, such as a late one of a shape that was kept before; the second also sees
// what goes wrong with the target's values and in the target's own memory alone.
//
// A call that fails is kept in the store as a case, with its verdict, so that it makes a bundle and
// is replayed by all later starts.
//
// One thread. Failures are those of the source and of the store; a target that fails is a finding.
#pragma once

#include "exec/session.h"
#include "model/checkpoint.h"
#include "offload/judge.h"
#include "plugin/registry.h"
#include "verify/verdict.h"

struct watch;

struct watch_options {
    struct registry *registry;
    struct store *store;
    struct model *model;
    int64_t capacity, chunk;
    struct place *source;
    struct place *target;  // For calls alone.
    struct place *running; // The target for runs, where it may be under a guard.
    const struct judge_prompt *prompts;

    // Called after each step; a status that is not TAPML_OK ends it. Or NULL.
    tapml_status (*poll)(void *user);
    void *user;
};

// All is borrowed. The caller owns the watch.
tapml_status watch_create(const struct watch_options *options,
                          struct watch **out_watch) STATUS_USED;
void watch_destroy(struct watch *watch);

enum watch_mode { WATCH_SHADOW, WATCH_CUMULATIVE };

// What to look at.
struct watch_look {
    enum watch_mode mode;
    const struct plan *plan; // Judged are the calls of the ops that it gives to the target.
    size_t prompt;           // Of the prompts.
    int64_t steps;           // The first so many; 0: all.
    unsigned repeats;        // Of each call, in the shadow: for what fails only sometimes.
};

// An instance that failed, with its first call that did.
struct watch_finding {
    uint32_t op;            // In the graph.
    struct verdict verdict; // With the case's id, where it could be kept.
    uint64_t tried, failed; // Calls and their repeats, of this look.
    int fails_alone;        // The kept case does, by itself on the target.
};

struct watch_result {
    struct arena *arena;
    struct watch_finding *items; // In the order of the graph.
    size_t count;
    uint64_t tried_least;  // How often the least tried of the instances was tried.
    uint64_t executions;   // On source and target.
    uint64_t calibrations; // Apart.
};

// Runs a prompt, forced along the source's choices. Failures of the target are findings; what ends
// all (status_ends_all) is a status. The caller releases the result.
tapml_status watch_run(struct watch *watch,
                       const struct watch_look *look,
                       struct watch_result *out_result) STATUS_USED;
void watch_result_release(struct watch_result *result);

// Runs a kept case on the target a few times more, to tell whether it always fails: where one of
// them passes, so often that its rate is known. `io_tried` and `io_failed` are counted on.
tapml_status watch_repeat(struct watch *watch,
                          int64_t case_id,
                          uint64_t *io_tried,
                          uint64_t *io_failed) STATUS_USED;

// Op executions of all `watch_repeat` so far.
uint64_t watch_repeat_executions(const struct watch *watch);
