// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The greedy choice: again and again the point that adds most for its cost, until the budget is
// spent. A queue is lazy: what a point adds is looked up when it comes to its head, since it only
// falls. Without costs and with f monotone the result has at least 1 - 1/e of the best.
//
// A choice of fewer points is the begin of one of more, unless there are costs.
//
// Pure; any thread. The same input gives the same choice; of equal points the first one is chosen.
#pragma once

#include "choose/bounding.h"

struct greedy_options {
    double budget;          // Of costs in all.
    const uint8_t *states;  // BOUNDING_OUT is never chosen, BOUNDING_IN before open ones; or NULL.
    const uint8_t *is_must; // Chosen first, as far as the budget goes; or NULL.
};

struct greedy_pick {
    uint32_t index;
    double gain; // What it added when it was chosen.
};

// Chooses points; `out_picks` has room for all. TAPML_NO_MEMORY is the one failure.
tapml_status greedy_run(const struct objective *objective,
                        const struct greedy_options *options,
                        struct greedy_pick *out_picks,
                        size_t *out_count) STATUS_USED;
