// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Cases that a policy of a plugin (plugin/policy.h) chooses or orders: what it is shown of them,
// and what its choice is as one of the host's, without a certificate.
//
// One thread, that of the registry. Results are in `arena`. Failures are those of the policy, and
// TAPML_NO_MEMORY.
#pragma once

#include "choose/budget.h"
#include "choose/select.h"
#include "store/feature.h"

struct arena;
struct policy;

// Of all cases of a store.
struct case_policy_input {
    const char *target;
    const struct feature_case *cases;
    const uint32_t *groups; // The number of each one's signature.
    size_t count, group_count;
    const double *times_ns; // Predicted, of each; NULL: they cannot be.
    struct case_budget budget;
};

// What the policy chooses within the budget. Picks are in its order, with what each is worth as
// their gain; the certificate's share is NaN. Without cases nothing is asked.
tapml_status case_policy_select(struct policy *policy,
                                const struct case_policy_input *input,
                                struct arena *arena,
                                struct select_result *out_result) STATUS_USED;

// Puts `count` of the cases, by their indices, into the order of the policy.
tapml_status case_policy_order(struct policy *policy,
                               const struct case_policy_input *input,
                               struct arena *arena,
                               uint32_t *io_order,
                               size_t count) STATUS_USED;

// "org.example.quick/quick 1.0.0" in `arena`; NULL if there is no memory.
const char *case_policy_name(const struct policy *policy, struct arena *arena);
