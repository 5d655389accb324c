// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "device.h"
#include "fast/fast.h"
#include "note.h"
#include "object.h"
#include "reference/reference.h"

#include <tapml/backend.h>
#include <tapml/plugin.h>

static tapml_status reference_create(const tapml_component *component,
                                     const tapml_host *host,
                                     tapml_call *call,
                                     tapml_object **out_root)
{
    return device_root_new(host, call, &reference_devices, 0, out_root);
}

static tapml_status fast_create(const tapml_component *component,
                                const tapml_host *host,
                                tapml_call *call,
                                tapml_object **out_root)
{
    const tapml_status status = device_root_new(host, call, NULL, sizeof(struct fast), out_root);

    if (status == TAPML_OK) {
        struct object *root = object_of(*out_root);
        struct fast *fast = (struct fast *)(void *)root->data;

        fast_init(fast);
        root->list = &fast->list;
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
