// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Inputs of a graph whose rows come from another graph of the same model: tapml.host.parts/1.
//
// The graph keeps what it asks for as a struct graph_part; run/model_parts.h computes it.
#pragma once

#include <tapml/model.h>

// The table that plugins get. Its function takes the object of a builder; after a failure the graph
// is incomplete. TAPML_INVALID for names, widths and ids that cannot be, and for the second part of
// one output or one id.
const tapml_host_parts *part_table(void);
