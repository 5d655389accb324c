// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A graph as text, for people and for diffs.
#pragma once

#include "base/text.h"
#include "graph/graph.h"

// One line an input, state, op and output: instance, op, arguments with shapes.
void print_graph(const struct graph *graph, struct text *out_text);
