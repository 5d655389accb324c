// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "offload/policy.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/ini.h"
#include "plugin/component.h"
#include "plugin/process.h"

#include <tapml/draft/policy.h>

#include <inttypes.h>
#include <string.h>

struct policy {
    struct component *component; // The registry's.
    struct text who;             // "policy 'org.example.quick/quick'"
};

tapml_status policy_create(struct registry *registry, const char *name, struct policy **out_policy)
{
    struct component *component = NULL;

    TAPML_TRY(registry_get(registry, TAPML_KIND_POLICY, name, &component));
    struct policy *policy = alloc_new(sizeof(*policy));

    if (policy == NULL) {
        return status_no_memory();
    }
    policy->component = component;
    text_init(&policy->who);
    text_format(&policy->who, "policy '%s/%s'", component->entry.plugin,
                component->entry.component);
    const tapml_status status = text_status(&policy->who);

    if (status != TAPML_OK) {
        policy_destroy(policy);
        return status;
    }
    *out_policy = policy;
    return TAPML_OK;
}

void policy_destroy(struct policy *policy)
{
    if (policy != NULL) {
        text_release(&policy->who);
        alloc_free(policy);
    }
}

// What the policy sees, and the order that it gives.
struct ordering {
    tapml_policy_kind *seen;
    const tapml_policy_kind **list;
    uint32_t *order;
    struct order_kind *before;
    uint8_t *is_there;
};

static tapml_status
make_ordering(struct arena *arena, const struct order_kind *kinds, size_t count, struct ordering *o)
{
    *o = (struct ordering){.seen = arena_array(arena, count + 1, sizeof(*o->seen)),
                           .list = arena_array(arena, count + 1, sizeof(*o->list)),
                           .order = arena_array(arena, count + 1, sizeof(*o->order)),
                           .before = arena_array(arena, count + 1, sizeof(*o->before)),
                           .is_there = arena_array(arena, count + 1, 1)};
    if (o->seen == NULL || o->list == NULL || o->order == NULL || o->before == NULL ||
        o->is_there == NULL) {
        return status_no_memory();
    }
    for (size_t i = 0; i < count; i++) {
        o->seen[i] = (tapml_policy_kind){.hdr = TAPML_HDR(tapml_policy_kind),
                                         .op = kinds[i].op,
                                         .instances = kinds[i].instances,
                                         .calls = kinds[i].calls,
                                         .source_ns = kinds[i].time_ns};
        o->list[i] = &o->seen[i];
        o->order[i] = (uint32_t)i;
        o->before[i] = kinds[i];
    }
    return TAPML_OK;
}

// The kind that an order leaves out, which is there if it has another one twice.
static const char *find_missing(const struct ordering *ordering, size_t count)
{
    for (size_t kind = 0; kind < count; kind++) {
        size_t i = 0;

        while (i < count && ordering->order[i] != kind) {
            i++;
        }
        if (i == count) {
            return ordering->before[kind].op->name;
        }
    }
    return "";
}

static tapml_status check_order(struct ordering *ordering, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const uint32_t index = ordering->order[i];

        if (index >= count) {
            return status_fail(TAPML_INTERNAL,
                               "its order has number %" PRIu32 " of %zu kinds, expected 0 to %zu",
                               index, count, count - 1);
        }
        if (ordering->is_there[index]) {
            return status_fail(TAPML_INTERNAL,
                               "its order of %zu kinds has '%.100s' twice, and not '%.100s'", count,
                               ordering->before[index].op->name, find_missing(ordering, count));
        }
        ordering->is_there[index] = 1;
    }
    return TAPML_OK;
}

static tapml_status ask(const struct policy *policy, struct ordering *ordering, size_t count)
{
    struct component *component = policy->component;
    const tapml_policy *table = component->table;
    const uint64_t mode = process_float_mode();

    services_begin(&component->call);
    tapml_status status = table->order(component->root, &component->call, ordering->list,
                                       (uint32_t)count, ordering->order);

    if (process_float_mode() != mode) {
        process_set_float_mode(mode);
        status = status == TAPML_OK
                     ? status_fail(TAPML_INTERNAL, "it left another floating-point mode behind")
                     : status;
    }
    if (status == TAPML_OK) {
        status = check_order(ordering, count);
    }
    status = services_end(&component->call, status, policy->who.data, "order");
    return status == TAPML_OK || status == TAPML_NO_MEMORY || status == TAPML_CANCELLED
               ? status
               : TAPML_INTERNAL;
}

tapml_status policy_order(struct policy *policy, struct order_kind *io_kinds, size_t count)
{
    struct arena *arena = policy != NULL ? arena_create() : NULL;
    struct ordering ordering = {.seen = NULL};

    if (policy == NULL) {
        return TAPML_OK;
    }
    tapml_status status =
        arena != NULL ? make_ordering(arena, io_kinds, count, &ordering) : status_no_memory();

    if (status == TAPML_OK) {
        status = ask(policy, &ordering, count);
    }
    for (size_t i = 0; status == TAPML_OK && i < count; i++) {
        io_kinds[i] = ordering.before[ordering.order[i]];
    }
    arena_destroy(arena);
    return status;
}

void policy_print_name(const struct policy *policy, struct text *out)
{
    if (policy != NULL) {
        const struct candidate *entry = &policy->component->entry;

        text_format(out, "%s/%s %s", entry->plugin, entry->component, entry->version);
    }
}

void policy_print(const struct policy *policy, struct text *out)
{
    if (policy == NULL) {
        return;
    }
    const struct component *component = policy->component;
    const struct ini *ini = component->services.ini;

    text_format(out, " %s %s", policy->who.data, component->plugin->manifest.build_id);
    for (size_t i = 0; ini != NULL && i < ini->count; i++) {
        if (strcmp(ini->entries[i].section, component->manifest->section) == 0) {
            text_format(out, " %s=%s", ini->entries[i].key, ini->entries[i].value);
        }
    }
}
