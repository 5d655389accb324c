// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/policy_table.h"

#include <string.h>

const char *policy_table_function(enum policy_role role)
{
    static const char *const functions[POLICY_ROLES] = {[POLICY_ORDER] = "order",
                                                        [POLICY_SELECT] = "select",
                                                        [POLICY_ORDER_CASES] = "order_cases",
                                                        [POLICY_TRIGGER] = "trigger",
                                                        [POLICY_BUILD] = "build"};
    return functions[role];
}

int policy_table_has(const tapml_policy *table, const char *kind, enum policy_role role)
{
    if (role != POLICY_ORDER && strcmp(kind, TAPML_KIND_POLICY_DRAFT1) == 0) {
        return 0;
    }
    switch (role) {
    case POLICY_ORDER:
        return TAPML_HAS_FN(tapml_policy, table, order);
    case POLICY_SELECT:
        return TAPML_HAS_FN(tapml_policy, table, select);
    case POLICY_ORDER_CASES:
        return TAPML_HAS_FN(tapml_policy, table, order_cases);
    case POLICY_TRIGGER:
        return TAPML_HAS_FN(tapml_policy, table, trigger);
    case POLICY_BUILD:
        return TAPML_HAS_FN(tapml_policy, table, build);
    case POLICY_ROLES:
        break;
    }
    return 0;
}
