// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "device.h"
#include "note.h"

#include <tapml/plugin.h>

static tapml_status create_fused_norm(const tapml_component *component,
                                      const tapml_host *host,
                                      tapml_call *call,
                                      tapml_object **out_root)
{
    (void)component;
    return fused_norm_create(host, call, out_root);
}

static tapml_status create_whole_layer(const tapml_component *component,
                                       const tapml_host *host,
                                       tapml_call *call,
                                       tapml_object **out_root)
{
    (void)component;
    return whole_layer_create(host, call, out_root);
}

static const tapml_component fused_norm = {
    .hdr = TAPML_HDR(tapml_component),
    .kind = TAPML_KIND_BACKEND,
    .id = "fused_norm",
    .title = "Example: a norm and the products that read it, in one pass",
    .create = create_fused_norm,
};
static const tapml_component whole_layer = {
    .hdr = TAPML_HDR(tapml_component),
    .kind = TAPML_KIND_BACKEND,
    .id = "whole_layer",
    .title = "Example: groups of any length of the operators of a decoder",
    .create = create_whole_layer,
};

TAPML_PLUGIN("org.tapml.groups", "0.1.0", "TapML", "Apache-2.0", &fused_norm, &whole_layer)
