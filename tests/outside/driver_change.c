// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A policy of a stranger for a machine on which drivers come from somebody else: what is stale runs
// when a driver has changed, and at the first look. All other changes wait until then.
#include "driver_change-note.h"

#include <tapml/draft/policy.h>
#include <tapml/host.h>
#include <tapml/plugin.h>

#include <stdio.h>
#include <string.h>

struct root {
    tapml_object base;
    const tapml_host *host;
    const tapml_host_core *core;
};

static tapml_status trigger(tapml_object *object,
                            tapml_call *call,
                            const tapml_policy_look *look,
                            tapml_policy_answer *out_answer)
{
    if (look->is_first) {
        out_answer->runs = 1;
        (void)snprintf(out_answer->reason, sizeof(out_answer->reason), "nothing is known yet");
    }
    for (uint32_t i = 0; i < look->n_changes; i++) {
        const tapml_policy_change *change = look->changes[i];

        if (change->what == TAPML_CHANGED_DRIVER) {
            out_answer->runs = 1;
            (void)snprintf(out_answer->reason, sizeof(out_answer->reason),
                           "the driver of %.30s is %.60s", change->target, change->now);
        }
    }
    return TAPML_OK;
}

static const tapml_policy table = {.hdr = TAPML_HDR(tapml_policy), .trigger = trigger};

static void release(tapml_object *object)
{
    struct root *root = (struct root *)object;

    root->core->free(root->host, root, sizeof(*root), _Alignof(struct root));
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
    struct root *root = core->alloc(host, sizeof(*root), _Alignof(struct root));

    if (root == NULL) {
        return core->fail(call, TAPML_NO_MEMORY, 0, NULL, message, strlen(message));
    }
    *root = (struct root){.base = {&root_vt}, .host = host, .core = core};
    *out_root = &root->base;
    return TAPML_OK;
}

static const tapml_component policy = {.hdr = TAPML_HDR(tapml_component),
                                       .kind = TAPML_KIND_POLICY,
                                       .id = "outside_driver_change",
                                       .title = "What is stale runs after a change of a driver",
                                       .create = create};

TAPML_PLUGIN("org.example.outside-driver_change", "1.0.0", "Example", "Apache-2.0", &policy)
