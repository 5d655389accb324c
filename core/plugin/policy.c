// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/policy.h"

#include "base/alloc.h"
#include "base/ini.h"
#include "plugin/component.h"
#include "plugin/policy_answer.h"
#include "plugin/process.h"

#include <string.h>

struct policy {
    struct component *component; // The registry's.
    struct text who;             // "policy 'org.example.quick/quick'"
};

// -- Opening -----------------------------------------------------------------------------------

static tapml_status open(struct policy *policy, enum policy_role role)
{
    const struct candidate *entry = &policy->component->entry;
    text_format(&policy->who, "policy '%s/%s'", entry->plugin, entry->component);
    TAPML_TRY(text_status(&policy->who));
    return policy_table_has(policy->component->table, entry->kind, role)
               ? TAPML_OK
               : status_fail(TAPML_INVALID, "%s has no function '%s', which is what is asked here",
                             policy->who.data, policy_table_function(role));
}

tapml_status policy_create(struct registry *registry,
                           const char *name,
                           enum policy_role role,
                           struct policy **out_policy)
{
    struct component *component = NULL;
    TAPML_TRY(registry_get(registry, TAPML_KIND_POLICY, name, &component));
    struct policy *policy = alloc_new(sizeof(*policy));
    if (!policy) {
        return status_no_memory();
    }
    policy->component = component;
    text_init(&policy->who);
    const tapml_status status = open(policy, role);
    if (status != TAPML_OK) {
        policy_destroy(policy);
        return status;
    }
    *out_policy = policy;
    return TAPML_OK;
}

void policy_destroy(struct policy *policy)
{
    if (policy) {
        text_release(&policy->who);
        alloc_free(policy);
    }
}

// -- Asking ------------------------------------------------------------------------------------

struct policy_asking {
    struct policy *policy;
    const tapml_policy *table;
    tapml_object *root;
    tapml_call *call;
    uint64_t mode;
};

static struct policy_asking begin(struct policy *policy)
{
    struct component *component = policy->component;
    services_begin(&component->call);
    return (struct policy_asking){policy, component->table, component->root, &component->call,
                                  process_float_mode()};
}

// What the function has left behind, before its answer is looked at.
static tapml_status settle(const struct policy_asking *asking, tapml_status status)
{
    if (process_float_mode() == asking->mode) {
        return status;
    }
    process_set_float_mode(asking->mode);
    return status == TAPML_OK
               ? status_fail(TAPML_INTERNAL, "it left another floating-point mode behind")
               : status;
}

static tapml_status
end(const struct policy_asking *asking, tapml_status status, enum policy_role role)
{
    status =
        services_end(asking->call, status, asking->policy->who.data, policy_table_function(role));
    return status == TAPML_OK || status == TAPML_NO_MEMORY || status == TAPML_CANCELLED
               ? status
               : TAPML_INTERNAL;
}

tapml_status policy_order(struct policy *policy,
                          const tapml_policy_kind *const *kinds,
                          uint32_t count,
                          uint32_t *io_order)
{
    const struct policy_asking asking = begin(policy);
    tapml_status status =
        settle(&asking, asking.table->order(asking.root, asking.call, kinds, count, io_order));
    status = status == TAPML_OK ? policy_answer_check_kinds(kinds, count, io_order) : status;
    return end(&asking, status, POLICY_ORDER);
}

tapml_status policy_select(struct policy *policy,
                           const tapml_policy_cases *question,
                           uint32_t *out_chosen,
                           double *out_worth,
                           uint32_t *out_count)
{
    const struct policy_asking asking = begin(policy);
    tapml_status status = settle(&asking, asking.table->select(asking.root, asking.call, question,
                                                               out_chosen, out_worth, out_count));
    status = status == TAPML_OK
                 ? policy_answer_check_choice(question, out_chosen, out_worth, *out_count)
                 : status;
    return end(&asking, status, POLICY_SELECT);
}

static tapml_status order_cases(const struct policy_asking *asking,
                                const tapml_policy_cases *question,
                                const uint32_t *given,
                                uint32_t count,
                                uint32_t *io_order)
{
    TAPML_TRY(settle(
        asking, asking->table->order_cases(asking->root, asking->call, question, count, io_order)));
    return policy_answer_check_cases(question, given, io_order, count);
}

tapml_status policy_order_cases(struct policy *policy,
                                const tapml_policy_cases *question,
                                uint32_t count,
                                uint32_t *io_order)
{
    uint32_t *given = alloc_array((size_t)count + 1, sizeof(*given));
    if (!given) {
        return status_no_memory();
    }
    memcpy(given, io_order, count * sizeof(*given));
    const struct policy_asking asking = begin(policy);
    const tapml_status status = order_cases(&asking, question, given, count, io_order);
    alloc_free(given);
    return end(&asking, status, POLICY_ORDER_CASES);
}

tapml_status policy_trigger(struct policy *policy,
                            const tapml_policy_look *look,
                            tapml_policy_answer *out_answer)
{
    const struct policy_asking asking = begin(policy);
    *out_answer = (tapml_policy_answer){.hdr = TAPML_HDR(tapml_policy_answer)};
    tapml_status status =
        settle(&asking, asking.table->trigger(asking.root, asking.call, look, out_answer));
    status = status == TAPML_OK ? policy_answer_check_look(out_answer) : status;
    return end(&asking, status, POLICY_TRIGGER);
}

tapml_status policy_build(struct policy *policy,
                          const tapml_policy_ops *question,
                          uint8_t *out_places,
                          uint32_t *out_count)
{
    const struct policy_asking asking = begin(policy);
    *out_count = 0;
    tapml_status status = settle(
        &asking, asking.table->build(asking.root, asking.call, question, out_places, out_count));
    status =
        status == TAPML_OK ? policy_answer_check_plans(question, out_places, *out_count) : status;
    return end(&asking, status, POLICY_BUILD);
}

// -- Names -------------------------------------------------------------------------------------

void policy_print_name(const struct policy *policy, struct text *out)
{
    if (policy) {
        const struct candidate *entry = &policy->component->entry;
        text_format(out, "%s/%s %s", entry->plugin, entry->component, entry->version);
    }
}

void policy_print(const struct policy *policy, struct text *out)
{
    if (!policy) {
        return;
    }
    const struct component *component = policy->component;
    const struct ini *ini = component->services.ini;
    text_format(out, " %s %s", policy->who.data, component->plugin->manifest.build_id);
    for (size_t i = 0; ini && i < ini->count; i++) {
        if (strcmp(ini->entries[i].section, component->manifest->section) == 0) {
            text_format(out, " %s=%s", ini->entries[i].key, ini->entries[i].value);
        }
    }
}
