// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Its driver is missing, which is no failure.
#include <tapml/host.h>
#include <tapml/plugin.h>

#include <string.h>

static tapml_status
probe(const tapml_component *component, const tapml_host *host, tapml_call *call)
{
    static const char message[] = "libunobtainium.so.1 not found";
    const tapml_host_core *core = host->interface_of(host, TAPML_HOST_CORE);
    return core->fail(call, TAPML_UNAVAILABLE, 0, "zoo", message, strlen(message));
}

#define ZOO_PROBE probe
#include "zoo.h"
