// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/policies.h"

#include "config/problems.h"
#include "config/run_config.h"

// Where the file names it. A policy that builds plans is named by an option of `plan search`.
static const struct {
    const char *section, *key;
} PLACES[POLICY_ROLES] = {
    [POLICY_ORDER] = {"offload", "policy"},
    [POLICY_SELECT] = {"select", "policy"},
    [POLICY_ORDER_CASES] = {"order", "policy"},
    [POLICY_TRIGGER] = {"watch", "triggers"},
};

// The component that is named for a role, or NULL.
static const char *name_of(const struct run_config *config, enum policy_role role)
{
    const char *const names[POLICY_ROLES] = {
        [POLICY_ORDER] = config->policy,
        [POLICY_SELECT] = config->select_policy,
        [POLICY_ORDER_CASES] = config->order_policy,
        [POLICY_TRIGGER] = config->watch.is_on & 1U << WATCH_POLICY ? config->watch.policy : NULL,
    };

    return names[role];
}

// A word that is neither an order of the host nor a component may be a slip in either.
static tapml_status open_one(struct registry *registry,
                             const char *name,
                             enum policy_role role,
                             struct policy **out_policy)
{
    const tapml_status status = policy_create(registry, name, role, out_policy);

    return role == POLICY_ORDER_CASES && status == TAPML_NOT_FOUND
               ? status_explain(status, "expected 'auto', 'carved', 'balance', 'cover' or the id "
                                        "of a policy")
               : status;
}

tapml_status policies_open(struct registry *registry,
                           struct run_config *io_config,
                           struct policies *out_policies)
{
    *out_policies = (struct policies){{NULL}};
    for (int i = 0; i < POLICY_ROLES; i++) {
        const enum policy_role role = (enum policy_role)i;
        const char *name = name_of(io_config, role);
        const tapml_status status =
            name != NULL ? open_one(registry, name, role, &out_policies->of[i]) : TAPML_OK;

        if (status != TAPML_OK) {
            return status_explain(status, "[%s] %s", PLACES[i].section, PLACES[i].key);
        }
    }
    io_config->choice.selector = out_policies->of[POLICY_SELECT];
    io_config->choice.sorter = out_policies->of[POLICY_ORDER_CASES];
    return TAPML_OK;
}

void policies_release(struct policies *policies)
{
    for (int i = 0; i < POLICY_ROLES; i++) {
        policy_destroy(policies->of[i]);
        policies->of[i] = NULL;
    }
}

void policies_check(struct registry *registry,
                    const struct run_config *config,
                    struct problems *problems)
{
    for (int i = 0; i < POLICY_ROLES; i++) {
        const enum policy_role role = (enum policy_role)i;
        const char *name = name_of(config, role);
        struct policy *policy = NULL;

        if (name != NULL && open_one(registry, name, role, &policy) != TAPML_OK) {
            problems_refuse(problems, &config->ini, PLACES[i].section, PLACES[i].key, "%s",
                            status_message());
        }
        policy_destroy(policy);
    }
}
