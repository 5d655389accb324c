// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The kept cases that are to be judged at one start, in their order: all of them, or what the
// settings of a run choose (choose/choice.h) and what has a result of an earlier start.
//
// One thread. Failures are those of the store and TAPML_NO_MEMORY.
#pragma once

#include "verify/verdict.h"

struct chosen_cases {
    int64_t *ids; // Those that have a result first.
    size_t count;
    size_t known;         // Of them, those that have a result.
    size_t all;           // Cases of the store.
    int64_t *stored;      // All of them, in the order of the store.
    int is_balanced;      // Every prefix of those without a result is like all of these.
    uint64_t deadline_ns; // When a budget in seconds is spent; 0: there is none.
};

// Of settings that choose, the choice is logged and noted as metadata: `select.TARGET` is what it
// came to in a sentence, `select.TARGET.budget` the budget, `select.TARGET.share` its certificate,
// and `select.TARGET.policy` the policy of a plugin that has chosen; the last two are "" where
// there is none. Results that are stale must have been deleted. Lists are in `arena`.
tapml_status chosen_cases_list(const struct verdict_options *options,
                               struct arena *arena,
                               struct chosen_cases *out_chosen) STATUS_USED;

// Whether the budget's time is over before case `index`.
int chosen_cases_is_over(const struct chosen_cases *chosen, size_t index);

// Puts the verdicts of a list into the order of the store, which does not depend on what was
// chosen.
tapml_status chosen_cases_sort(const struct chosen_cases *chosen,
                               struct verdict_list *io_list) STATUS_USED;
