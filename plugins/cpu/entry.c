// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "fast/fast.h"
#include "note.h"
#include "reference/reference.h"

#include <tapml/backend.h>
#include <tapml/plugin.h>

static tapml_status reference_create(const tapml_component *component,
                                     const tapml_host *host,
                                     tapml_call *call,
                                     tapml_object **out_root)
{
    return memory_backend_create(host, call, &reference_component, 0, out_root);
}

static tapml_status fast_create(const tapml_component *component,
                                const tapml_host *host,
                                tapml_call *call,
                                tapml_object **out_root)
{
    const tapml_status status =
        memory_backend_create(host, call, NULL, sizeof(struct fast), out_root);

    if (status == TAPML_OK) {
        struct memory_object *root = memory_object_of(*out_root);
        struct fast *fast = (struct fast *)(void *)root->data;

        fast_init(fast);
        root->component = &fast->component;
    }
    return status;
}

static const tapml_component reference = {
    .hdr = TAPML_HDR(tapml_component),
    .kind = TAPML_KIND_BACKEND,
    .id = "reference",
    .title = "Reference: the formulas as they stand, on the CPU",
    .create = reference_create,
};

static const tapml_component fast = {
    .hdr = TAPML_HDR(tapml_component),
    .kind = TAPML_KIND_BACKEND,
    .id = "cpu",
    .title = "CPU: vector instructions and the host's threads",
    .create = fast_create,
};

TAPML_PLUGIN("org.tapml.cpu", "0.1.0", "TapML", "Apache-2.0", &reference, &fast)
