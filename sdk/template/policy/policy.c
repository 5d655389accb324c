// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A policy: the kinds of operators that take the least time on the source are moved first, so that
// most of a model is on the target early.
#include "note.h"

#include <tapml/draft/policy.h>
#include <tapml/host.h>
#include <tapml/plugin.h>

#include <string.h>

struct policy {
    tapml_object base; // First, so that a `tapml_object *` is a `struct policy *`.
    const tapml_host *host;
    const tapml_host_core *core;
};

// -- The order ---------------------------------------------------------------------------------

// By insertion: there are few kinds, and those of equal time stay as they are.
static tapml_status order(tapml_object *object,
                          tapml_call *call,
                          const tapml_policy_kind *const *kinds,
                          uint32_t n_kinds,
                          uint32_t *io_order)
{
    for (uint32_t i = 1; i < n_kinds; i++) {
        const uint32_t kind = io_order[i];
        uint32_t at = i;

        for (; at > 0 && kinds[io_order[at - 1]]->source_ns > kinds[kind]->source_ns; at--) {
            io_order[at] = io_order[at - 1];
        }
        io_order[at] = kind;
    }
    return TAPML_OK;
}

static const tapml_policy table = {.hdr = TAPML_HDR(tapml_policy), .order = order};

// -- The component -----------------------------------------------------------------------------

static void release(tapml_object *object)
{
    struct policy *policy = (struct policy *)object;

    policy->core->free(policy->host, policy, sizeof(*policy), _Alignof(struct policy));
}

static const void *interface_of(tapml_object *object, const char *id)
{
    return strcmp(id, TAPML_KIND_POLICY) == 0 ? &table : NULL;
}

static const tapml_object_vt root_vt = {TAPML_HDR(tapml_object_vt), release, interface_of};

static tapml_status create(const tapml_component *component,
                           const tapml_host *host,
                           tapml_call *call,
                           tapml_object **out_root)
{
    static const char message[] = "out of memory";
    const tapml_host_core *core = host->interface_of(host, TAPML_HOST_CORE);
    struct policy *policy = core->alloc(host, sizeof(*policy), _Alignof(struct policy));

    if (policy == NULL) {
        return core->fail(call, TAPML_NO_MEMORY, 0, NULL, message, strlen(message));
    }
    *policy = (struct policy){.base = {&root_vt}, .host = host, .core = core};
    *out_root = &policy->base;
    return TAPML_OK;
}

static const tapml_component sample = {
    .hdr = TAPML_HDR(tapml_component),
    .kind = TAPML_KIND_POLICY,
    .id = "sample",
    .title = "Sample: a policy",
    .create = create,
};

TAPML_PLUGIN("org.example.sample", "0.1.0", "Example", "Apache-2.0", &sample)
