// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A graph as text, for people and for diffs.
#pragma once

#include "base/text.h"
#include "graph/graph.h"

// One line an input, state, op and output: instance, op, arguments with shapes.
void print_graph(const struct graph *graph, struct text *out_text);

// The same for Graphviz: a node for each input, state, constant and op, weights in the labels of
// the ops that take them, and an edge with type and shape for each value that an op takes.
void print_dot(const struct graph *graph, struct text *out_text);
