// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The two components: devices over ordinary memory without ops of their own, which take groups
// (tapml/draft/subgraph.h).
#pragma once

#include <tapml/draft/subgraph.h>
#include <tapml/memory/backend.h>

extern const tapml_subgraph fused_norm_subgraph;  // fused_norm.c
extern const tapml_subgraph whole_layer_subgraph; // whole_layer.c

// Makes the root of a component.
tapml_status fused_norm_create(const tapml_host *host, tapml_call *call, tapml_object **out_root);
tapml_status whole_layer_create(const tapml_host *host, tapml_call *call, tapml_object **out_root);
