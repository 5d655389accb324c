// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A component whose root is an object with the table of its kind, which has no function yet. A host
// that has the kind asks for the table by the kind's id.
#include "note.h"

#include <tapml/host.h>
#include <tapml/plugin.h>

#include <string.h>

#define KIND "org.example.thing/1-draft1"

// What a component of the kind does. Functions come behind the head, each with the root or an
// object that another has made as its first argument.
struct table {
    tapml_hdr hdr;
};

static const struct table table = {.hdr = TAPML_HDR(struct table)};

struct root {
    tapml_object base; // First, so that a `tapml_object *` is a `struct root *`.
    const tapml_host *host;
    const tapml_host_core *core;
};

static void release(tapml_object *object)
{
    struct root *root = (struct root *)object;

    root->core->free(root->host, root, sizeof(*root), _Alignof(struct root));
}

static const void *interface_of(tapml_object *object, const char *id)
{
    return strcmp(id, KIND) == 0 ? &table : NULL;
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

static const tapml_component sample = {
    .hdr = TAPML_HDR(tapml_component),
    .kind = KIND,
    .id = "sample",
    .title = "Sample: a component",
    .create = create,
};

TAPML_PLUGIN("org.example.sample", "0.1.0", "Example", "Apache-2.0", &sample)
