// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "device.h"
#include "note.h"

#include <tapml/plugin.h>

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
    .id = "ggml",
    .title = "ggml: every device of llama.cpp's tensor library",
    .create = create,
};

TAPML_PLUGIN("org.tapml.ggml", "0.1.0", "TapML", "Apache-2.0", &component)
