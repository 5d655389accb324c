// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The table of a policy (tapml/draft/policy.h): which of its functions are there.
//
// Pure; any thread.
#pragma once

#include <tapml/draft/policy.h>

// What a policy is asked, a function of its table each.
enum policy_role {
    POLICY_ORDER,
    POLICY_SELECT,
    POLICY_ORDER_CASES,
    POLICY_TRIGGER,
    POLICY_BUILD,
    POLICY_ROLES
};

// "order_cases", as the table calls it; static.
const char *policy_table_function(enum policy_role role);

// Whether a table has the function, as one of a component of `kind`: that of the first draft ends
// with `order`.
int policy_table_has(const tapml_policy *table, const char *kind, enum policy_role role);
