// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Watches a run of the model: every call of an op is judged when it runs, by the calibrated limits
// of the replays.
//
// In a shadow run all ops run on the source, whose results flow on, and each call is repeated on
// the target with the source's inputs. In a cumulative run the target's own results flow on, and
// each of its calls is repeated on the source with the target's inputs. Both judge calls that no
// kept case represents, such as a late call of a known shape; a cumulative run also finds failures
// that need the target's own values or memory.
//
// A call that fails is kept in the store as a case, with its verdict: a bundle is made of it, and
// all later starts replay it.
//
// One thread. Failures are those of the source and of the store; a failing target is a finding.
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
    struct place *target;  // For single calls.
    struct place *running; // The target for whole runs, perhaps under a guard.
    const struct judge_prompt *prompts;

    // Called after each step; a status that is not TAPML_OK ends the run. Or NULL.
    tapml_status (*poll)(void *user);
    void *user;
};

// All options are borrowed. The caller owns the watch; `watch_destroy` accepts NULL.
tapml_status watch_create(const struct watch_options *options,
                          struct watch **out_watch) STATUS_USED;
void watch_destroy(struct watch *watch);

enum watch_mode { WATCH_SHADOW, WATCH_CUMULATIVE };

// Which calls to watch.
struct watch_look {
    enum watch_mode mode;
    const struct plan *plan; // The calls of the ops that it assigns to the target are judged.
    size_t prompt;           // Of the prompts.
    int64_t steps;           // How many, from the first; 0: all.
    unsigned repeats;        // Of each call in a shadow run, for intermittent failures.
};

// An instance that failed, with its first failing call.
struct watch_finding {
    uint32_t op;            // In the graph.
    struct verdict verdict; // With the id of the case, if it could be kept.
    uint64_t tried, failed; // Calls and their repeats, of this look.
    int fails_alone;        // The kept case fails by itself on the target.
};

struct watch_result {
    struct arena *arena;
    struct watch_finding *items; // In the order of the graph.
    size_t count;
    uint64_t tried_least;  // Calls of the instance with the fewest calls.
    uint64_t executions;   // On source and target.
    uint64_t calibrations; // Op executions for limits, not in `executions`.
};

// Runs a prompt along the ids that the source has chosen. Failures of the target are findings; a
// failure that ends everything (status_ends_all) is a status. The caller releases the result.
tapml_status watch_run(struct watch *watch,
                       const struct watch_look *look,
                       struct watch_result *out_result) STATUS_USED;
void watch_result_release(struct watch_result *result);

// Repeats a kept case on the target a few times, to see whether it always fails; if one repeat
// passes, so often that the rate of failures is known. Adds to `*io_tried` and `*io_failed`.
tapml_status watch_repeat(struct watch *watch,
                          int64_t case_id,
                          uint64_t *io_tried,
                          uint64_t *io_failed) STATUS_USED;

// Op executions of all calls of `watch_repeat` so far.
uint64_t watch_repeat_executions(const struct watch *watch);
