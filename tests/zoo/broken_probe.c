// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Its probe fails and does not say why.
#include <tapml/plugin.h>

static tapml_status
probe(const tapml_component *component, const tapml_host *host, tapml_call *call)
{
    return TAPML_INTERNAL;
}

#define ZOO_PROBE probe
#include "zoo.h"
