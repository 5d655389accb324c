// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "device.h"
#include "note.h"

#include <tapml/backend.h>
#include <tapml/plugin.h>

// A backend with a driver opens it in `probe`, and answers TAPML_UNAVAILABLE with the name of what
// is missing.
static tapml_status create(const tapml_component *component,
                           const tapml_host *host,
                           tapml_call *call,
                           tapml_object **out_root)
{
    return device_root_new(host, call, out_root);
}

static const tapml_component component = {
    .hdr = TAPML_HDR(tapml_component),
    .kind = TAPML_KIND_BACKEND,
    .id = "null",
    .title = "Null: ordinary memory and no operator, where a new backend begins",
    .create = create,
};

TAPML_PLUGIN("org.tapml.null", "0.1.0", "TapML", "Apache-2.0", &component)
