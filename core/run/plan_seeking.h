// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A search for the best plan of a run (choose/plan_search.h), whose plans are measured as
// contenders over the chunks of a text (run/trials.h): what was measured stays in a store, so that
// the same search runs nothing.
//
// One thread, that of the backends. Failures are those of the ground, of policies, of the store,
// and TAPML_NO_MEMORY.
#pragma once

#include "choose/plan_search.h"
#include "run/plan_ground.h"

struct store;

// All is borrowed.
struct plan_seeking_options {
    struct plan_ground *ground; // Open, with a text.
    struct store *store;        // Where results of chunks stay.
    enum plan_objective objective;
    size_t trials;               // Plans that are measured at most.
    uint64_t memory_bytes;       // Of each place but the source; 0: no bound.
    double slack, bound;         // As in struct plan_search_input.
    const char *const *builders; // Policies of plugins that build plans, too.
    size_t builder_count;

    // Called after each chunk with the plans that were measured so far; a status that is not
    // TAPML_OK ends it. Or NULL.
    tapml_status (*progress)(void *user, size_t done, size_t all);
    void *user;
};

// What came of it, in the arena of the ground.
struct plan_sought {
    struct plan_search_input input;
    struct plan_search search;
    size_t runs;     // Chunks that were run now; others were known.
    size_t openings; // Models that were opened to run, and the time that this took.
    double openings_s;
    double seconds;  // That chunks took which were run now.
    int64_t context; // Tokens of a chunk.
};

// Searches. TAPML_UNAVAILABLE where no plan can be other than the source's, and for precision where
// no place has reduced activations.
tapml_status plan_seeking_run(const struct plan_seeking_options *options,
                              struct plan_sought *out_sought) STATUS_USED;
