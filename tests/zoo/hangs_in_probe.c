// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Its probe never comes back.
#include <tapml/plugin.h>

#include <unistd.h>

static tapml_status
probe(const tapml_component *component, const tapml_host *host, tapml_call *call)
{
    while (pause() < 0) {
    }
    return TAPML_OK;
}

#define ZOO_PROBE     probe
#define ZOO_OP_DEED() ((void)0)
#include "zoo.h"
