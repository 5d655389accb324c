// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Localising: the ops that make a plan diverge although no kept case has failed.
//
// The search goes from the cheapest method to the most expensive, on the prompt that diverged and
// up to the step that did: a shadow run, then a cumulative run (offload/watch.h). If the plan then
// diverges each time, delta debugging over the ops on the target follows; if it diverges sometimes,
// shadow runs follow in which every call is repeated, more often from round to round. The ops that
// are found move back to the source, and the model has to agree: the proof. If it does not agree,
// the search continues with the other ops. An op without evidence against it is not blamed: a
// divergence without a culprit is reported as such. docs/localisation.md is the page for users.
//
// One thread. Failures are those of running the model and of the store.
#pragma once

#include "offload/trial.h"
#include "offload/watch.h"

// Op executions by their purpose.
struct localise_cost {
    uint64_t looks;   // Watched runs.
    uint64_t search;  // Runs of other plans.
    uint64_t repeats; // Repeats of failing cases.
    uint64_t proof;   // Runs of the plan without the blamed ops.
    uint64_t calibrations;
};

struct localise {
    struct trial *trial;
    struct watch *watch; // NULL: no watched runs, only the search over plans.
    struct store *store; // For the steps of the offload.
    struct localise_cost cost;
    uint64_t checks;         // Of each suspect, if a failure is intermittent; else 0.
    const char *unexplained; // The last divergence without a culprit; or NULL.
    unsigned trials;         // Of the current search.
    const char *step;
};

// Finds the ops that make the plan of the trial diverge, as `io_result` describes, and moves them
// to the source until the plan agrees or no op is found. `step` names the attempt; `kind` is the
// kind that was moved last, kind_count for all of them.
tapml_status localise_run(struct localise *localise,
                          const char *step,
                          size_t kind,
                          struct judge_result *io_result) STATUS_USED;

// Blames the ops that fail in a watched run of one prompt. If `steps` is 0 all its steps are run.
tapml_status localise_look(struct localise *localise, const struct watch_look *look) STATUS_USED;

// Prints the step of the offload that blames an op after a search: "blame layers.1/mlp/silu". Cut
// at `size` bytes.
void localise_name_step(const struct trial *trial, uint32_t op, char *out_text, size_t size);
