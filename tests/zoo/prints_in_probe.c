// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Its probe begins a line of the standard output, where a worker's answer stands.
#include <tapml/plugin.h>

#include <stdio.h>

static tapml_status
probe(const tapml_component *component, const tapml_host *host, tapml_call *call)
{
    printf("component\tprints_in_probe\tno-driver\tnot true\nop\t");
    return TAPML_OK;
}

#define ZOO_PROBE probe
#include "zoo.h"
