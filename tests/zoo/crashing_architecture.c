// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// An architecture whose probe crashes. Each command that opens a model asks all
// architectures.
#include "deeds.h"

#include <tapml/plugin.h>

#include ZOO_NOTE

static tapml_status
probe(const tapml_component *component, const tapml_host *host, tapml_call *call)
{
    deed_crash();
    return TAPML_OK;
}

static tapml_status create(const tapml_component *component,
                           const tapml_host *host,
                           tapml_call *call,
                           tapml_object **out_root)
{
    return TAPML_INTERNAL;
}

static const tapml_component crashing = {
    .hdr = TAPML_HDR(tapml_component),
    .kind = "tapml.model/1",
    .id = "crashing",
    .title = "Crashes before it is asked",
    .probe = probe,
    .create = create,
};
TAPML_PLUGIN("org.example.crashing_architecture", "1.0.0", "example", "Apache-2.0", &crashing)
