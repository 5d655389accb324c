// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Whole sequences over a session: prefill and greedy decode.
//
// One thread. Failures are those of the session.
#pragma once

#include "exec/session.h"

// Called after each step with the number of the step (0 is the prefill) and the id that was chosen
// after it, or -1 if `decode` is 0. A status that is not TAPML_OK ends the run, which returns it.
typedef tapml_status (*run_step_fn)(void *user, int64_t step, int32_t next_id);

struct run_options {
    const int32_t *ids; // The prompt.
    int64_t count;
    int64_t decode; // Greedy tokens to produce; 0: the prefill alone, as for an encoder.
    const struct prompt_givens *given; // Beside the ids; NULL: what the session has stays.
    const int32_t *end;                // Ids that end the run; or NULL.
    size_t end_count;
    run_step_fn after_step;  // Or NULL.
    run_step_fn before_step; // Or NULL. Its id is the one about to be fed, -1 for the prefill.
    void *user;
};

// Feeds the prompt, and then each id that was chosen. `out_ids` has room for `decode` ids; an id
// that ends the run is written too. TAPML_INVALID if the prompt is empty.
tapml_status run_greedy(struct session *session,
                        const struct run_options *options,
                        int32_t *out_ids,
                        int64_t *out_count) STATUS_USED;
