// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/kind.h"

#include "plugin/device_table.h"
#include "plugin/encoding_table.h"
#include "plugin/handshake.h"
#include "plugin/policy_table.h"

#include <tapml/draft/comparer.h>
#include <tapml/draft/observer.h>
#include <tapml/model.h>

#include <string.h>

static tapml_status check_backend(const void *table)
{
    return device_table_check(table);
}

static tapml_status check_model(const void *table)
{
    const tapml_model *model = table;
    if (!TAPML_HAS_FN(tapml_model, model, match) || !TAPML_HAS_FN(tapml_model, model, build)) {
        return status_fail(TAPML_ABI_MISMATCH, "its table of functions is too short");
    }
    return TAPML_OK;
}

static tapml_status check_observer(const void *table)
{
    const tapml_observer *observer = table;
    if (!TAPML_HAS(tapml_observer, observer, after)) {
        return status_fail(TAPML_ABI_MISMATCH, "its table of functions is too short");
    }
    if (handshake_has_unknown_demands(&observer->hdr) ||
        (observer->traits & ~TAPML_OBSERVER_REPLACES) != 0) {
        return status_fail(TAPML_ABI_MISMATCH, "its table has flags or traits that this host does "
                                               "not know");
    }
    return observer->before || observer->after
               ? TAPML_OK
               : status_fail(TAPML_ABI_MISMATCH, "its table has neither 'before' nor 'after'");
}

static tapml_status check_comparer(const void *table)
{
    const tapml_comparer *comparer = table;
    if (!TAPML_HAS_FN(tapml_comparer, comparer, measure)) {
        return status_fail(TAPML_ABI_MISMATCH, "its table of functions is too short");
    }
    return comparer->unit && comparer->unit[0] != '\0'
               ? TAPML_OK
               : status_fail(TAPML_ABI_MISMATCH, "its table does not say what it measures: 'unit'");
}

static tapml_status check_encoding(const void *table)
{
    return encoding_table_check(table);
}

static tapml_status check_policy_draft1(const void *table)
{
    return policy_table_has(table, TAPML_KIND_POLICY_DRAFT1, POLICY_ORDER)
               ? TAPML_OK
               : status_fail(TAPML_ABI_MISMATCH, "its table of functions is too short");
}

static tapml_status check_policy(const void *table)
{
    const tapml_policy *policy = table;
    if (handshake_has_unknown_demands(&policy->hdr)) {
        return status_fail(TAPML_ABI_MISMATCH, "its table has flags that this host does not know");
    }
    for (int role = 0; role < POLICY_ROLES; role++) {
        if (policy_table_has(table, TAPML_KIND_POLICY, (enum policy_role)role)) {
            return TAPML_OK;
        }
    }
    return status_fail(TAPML_ABI_MISMATCH, "its table has none of 'order', 'select', "
                                           "'order_cases' and 'trigger'");
}

static const struct kind_entry kinds[] = {
    {TAPML_KIND_BACKEND, "a backend", check_backend, NULL},
    {TAPML_KIND_MODEL, "an architecture", check_model, NULL},
    {TAPML_KIND_OBSERVER, "an observer", check_observer, NULL},
    {TAPML_KIND_COMPARER, "a comparer", check_comparer, NULL},
    {TAPML_KIND_ENCODING, "an encoding", check_encoding, NULL},
    {TAPML_KIND_POLICY, "a policy", check_policy, NULL},
    {TAPML_KIND_POLICY_DRAFT1, "a policy", check_policy_draft1, TAPML_KIND_POLICY},
};

const struct kind_entry *kind_find(const char *id)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        if (strcmp(kinds[i].id, id) == 0) {
            return &kinds[i];
        }
    }
    return NULL;
}

int kind_serves(const char *id, const char *wanted)
{
    const struct kind_entry *kind = kind_find(id);
    return strcmp(id, wanted) == 0 || (kind && kind->used_as && strcmp(kind->used_as, wanted) == 0);
}
