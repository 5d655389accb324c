// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The plans that a search (choose/plan_search.h) has looked at: each is looked at once, is named by
// what it was made of, and may be measured.
//
// One thread. Plans are in the arena of the pool. Failures are those of the look, and
// TAPML_NO_MEMORY.
#pragma once

#include "base/status.h"

#include <tapml/draft/policy.h>

#include <stddef.h>

struct arena;

// What is known of a plan without running it. The arrays are the pool's, to be filled.
struct plan_look {
    double *columns;      // Of the predictor.
    uint64_t *bytes;      // Of memory at each place.
    uint32_t moves;       // Values that cross in a call of one token,
    uint64_t moved_bytes; // and their bytes.
};

struct plan_trial {
    const char *name;      // "kind", or at the end of a search "kind, 3 edits".
    const uint8_t *places; // Of each operator.
    struct plan_look look;
    double analytic;    // By guesses alone: nanoseconds of a token, or nats.
    double predicted;   // When it was chosen to be measured.
    double value;       // Measured; NaN: it was not, or failed.
    double spread;      // Of that: two standard errors; NaN: it is not known.
    size_t chunks;      // It was measured on.
    size_t round;       // In which it was measured, from 1; 0: it was not.
    const char *failed; // Why it could not be measured; or NULL.
    uint64_t hash;
    unsigned edits;   // Since it was built.
    int is_too_large; // For the memory of a place.
};

struct plan_pool_input {
    const tapml_policy_ops *question;
    size_t width;          // Columns of the predictor,
    const double *guesses; // and its weights before anything is known; read at each look.
    uint64_t memory_bytes; // That each place but the source has; 0: no bound.
    tapml_status (*look)(void *user, const uint8_t *places, struct plan_look *io_look);
    void *user;
};

struct plan_pool {
    struct plan_pool_input given;
    struct arena *arena;
    struct plan_trial **items; // In the order in which they were looked at.
    size_t count, capacity;
    struct plan_trial **table; // By the hashes of plans.
    size_t too_large;
};

// What `input` points to outlives the pool. The caller releases it, after a failure, too.
tapml_status plan_pool_init(struct plan_pool *pool,
                            const struct plan_pool_input *input,
                            struct arena *arena) STATUS_USED;
void plan_pool_release(struct plan_pool *pool);

// Looks at a plan, or finds it again. A new one is built by the builder `name`, or is an edit of
// `from`, which is NULL otherwise.
tapml_status plan_pool_look(struct plan_pool *pool,
                            const uint8_t *places,
                            const char *name,
                            const struct plan_trial *from,
                            struct plan_trial **out_trial) STATUS_USED;

// Whether a plan is still to be measured, and can be.
int plan_pool_can_measure(const struct plan_trial *trial);

// A plan with a score, and an array of these: the smallest first; of equal ones in the order in
// which they were put there.
struct plan_scored {
    double score;
    size_t index;
    struct plan_trial *trial;
};
void plan_pool_sort(struct plan_scored *items, size_t count);
