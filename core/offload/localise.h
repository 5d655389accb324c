// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Localising: which ops make a plan depart, where no kept case has told?
//
// From the cheapest to the dearest, on the prompt that departed and no further than the step where
// it did: a run in the shadow, a cumulative run (offload/watch); then, where the same plan departs
// each time, delta debugging over what is on the target; where it departs sometimes, runs in the
// shadow with every call repeated, more often from round to round. What was found goes back to the
// source, and the model has to agree: the proof. Where it does not, the search goes on with what is
// left. Who has no evidence against it is not accused: a departure that nobody can be accused of is
// told as such. docs/localisation.md says it for users.
#pragma once

#include "offload/trial.h"
#include "offload/watch.h"

// Op executions, by what they were for.
struct localise_cost {
    uint64_t looks;   // Watched runs,
    uint64_t search;  // runs of other plans,
    uint64_t repeats; // of cases that failed,
    uint64_t proof;   // of the plan without the accused.
    uint64_t calibrations;
};

struct localise {
    struct trial *trial;
    struct watch *watch; // NULL: there is only the search.
    struct store *store; // For the ledger.
    struct localise_cost cost;
    uint64_t checks;         // Of each suspect, where something fails only sometimes; else 0.
    const char *unexplained; // The last departure that nobody could be accused of; or NULL.
    unsigned trials;         // Of the search at hand.
    const char *step;
};

// Finds who makes the plan of the trial depart, as `io_result` says, and takes them back until it
// agrees or nobody is found any more. `kind` was moved last; kind_count: all of them.
tapml_status localise_run(struct localise *localise,
                          const char *step,
                          size_t kind,
                          struct judge_result *io_result) STATUS_USED;

// Accuses what fails in a watched run of one prompt. `steps` 0: of all its steps.
tapml_status localise_look(struct localise *localise, const struct watch_look *look) STATUS_USED;

// The ledger's step for an op that is accused by a search: "accuse layers.1/mlp/silu".
void localise_name_step(const struct trial *trial, uint32_t op, char *out_text, size_t size);
