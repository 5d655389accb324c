// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "note.h"
#include "operators.h"

#include <tapml/plugin.h>

static tapml_status create(const tapml_component *component,
                           const tapml_host *host,
                           tapml_call *call,
                           tapml_object **out_root)
{
    return device_create(host, call, out_root);
}

static const tapml_component component = {
    .hdr = TAPML_HDR(tapml_component),
    .kind = TAPML_KIND_BACKEND,
    .id = "onednn",
    .title = "oneDNN: Intel's primitives for processors",
    .create = create,
};

TAPML_PLUGIN("org.tapml.onednn", "0.1.0", "TapML", "Apache-2.0", &component)
