// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A search for the best plan of a model over places: builders (choose/plan_build.h) make the first
// plans, moves of units (choose/plan_units.h) make others of these, a predictor
// (choose/plan_model.h) that is corrected by each measurement says which are worth measuring, and
// the best few are measured longer. A place's memory is a bound that no plan exceeds.
//
// - latency: the least time of a token.
// - memory: the fewest bytes away from the source, of plans whose time is within `slack` of the
//   least that was found.
// - precision: the fewest operators away from places of reduced activations, of plans whose
//   divergence is at most `bound`.
//
// What a plan costs, and how it is measured, is the caller's, so that a search can be judged
// without devices (bench/plan). Everything follows from what these answer: the same answers give
// the same search. One thread. Results are in `arena`. Failures are those of the calls and
// TAPML_NO_MEMORY.
#pragma once

#include "base/status.h"
#include "choose/plan_build.h"
#include "choose/plan_columns.h"
#include "choose/plan_edits.h"
#include "choose/plan_units.h"

// Words of `plan search --by`, in this order.
enum plan_objective { PLAN_LATENCY, PLAN_MEMORY, PLAN_PRECISION };
#define PLAN_OBJECTIVES "latency memory precision"

struct plan_search_calls {
    // What is known of a plan, without running it: as in choose/plan_pool.h.
    tapml_status (*look)(void *user, const uint8_t *places, struct plan_look *io_look);
    void *look_user;

    // Measures plans on at least `chunks` chunks each, or fewer of those that are behind: sets
    // `value`, `spread`, `chunks` and `failed`.
    tapml_status (*measure)(void *user,
                            struct plan_trial *const *trials,
                            size_t count,
                            size_t chunks);
    void *user;
};

struct plan_search_input {
    const tapml_policy_ops *question;
    enum plan_objective objective;
    struct plan_search_calls calls;
    struct plan_builds builds;          // What it begins with; of precision ignored.
    struct plan_units units;            // What is moved.
    const struct plan_columns *columns; // Of the predictor.
    double noise;                       // Of a measured value, as a share of it.
    size_t trials;                      // Plans that are measured at most.
    size_t chunks;                      // That a plan is measured on at first,
    size_t chunks_last;                 // and the best few at the end.
    uint64_t memory_bytes;              // That each place but the source has; 0: no bound.
    double slack;                       // memory: 0.1 allows a tenth more time than the least.
    double bound;                       // precision: nats.
    const uint8_t *is_reduced;          // precision: of each place.
};

struct plan_search {
    struct plan_trial **measured; // In the order of `value`, those that failed last.
    size_t measured_count;
    struct plan_trial *best; // NULL: nothing meets the objective.
    struct plan_edits edits; // That matter most.
    size_t looked;           // Plans that were looked at,
    size_t too_large;        // of them without room at some place.
    size_t rounds;
    double correlation; // Of ranks: predicted and measured; NaN: not known.
    double limit;       // memory: the most time that is allowed.
};

tapml_status plan_search_run(const struct plan_search_input *input,
                             struct arena *arena,
                             struct plan_search *out_search) STATUS_USED;

// Of precision: how many operators are away from places of reduced activations.
uint32_t plan_search_wide(const struct plan_search_input *input, const uint8_t *places);

// Bytes of memory away from the source.
uint64_t plan_search_away(const struct plan_search_input *input, const struct plan_trial *trial);
