// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A policy of a stranger: the kind of operator that the option `first` names is moved first, the
// others stay in their order. `first = twice` gives an order that is none. It was written for the
// first draft of the kind.
#include "policy-note.h"
#include "policy_draft1.h"

#include <tapml/host.h>
#include <tapml/plugin.h>

#include <string.h>

struct root {
    tapml_object base;
    const tapml_host *host;
    const tapml_host_core *core;
};

static tapml_status order(tapml_object *object,
                          tapml_call *call,
                          const tapml_policy_kind *const *kinds,
                          uint32_t n_kinds,
                          uint32_t *io_order)
{
    const struct root *root = (const struct root *)object;
    const char *first = root->core->option(root->host, "first");
    uint32_t at = 0;

    if (first == NULL || n_kinds < 2) {
        return TAPML_OK;
    }
    if (strcmp(first, "twice") == 0) {
        io_order[1] = io_order[0];
        return TAPML_OK;
    }
    while (at < n_kinds && strcmp(kinds[io_order[at]]->op->name, first) != 0) {
        at++;
    }
    if (at < n_kinds) {
        const uint32_t kind = io_order[at];

        memmove(io_order + 1, io_order, at * sizeof(*io_order));
        io_order[0] = kind;
    }
    return TAPML_OK;
}

static const tapml_policy table = {.hdr = TAPML_HDR(tapml_policy), .order = order};

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
                                       .id = "outside_order",
                                       .title = "One kind first",
                                       .create = create};

TAPML_PLUGIN("org.example.outside-policy", "1.0.0", "Example", "Apache-2.0", &policy)
