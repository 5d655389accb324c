// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Makes an op of neighbouring ops of a graph: its schema, its plain form and its arguments.
#pragma once

#include "graph/graph.h"

// Ops [begin, end) of a graph.
struct group_range {
    uint32_t begin, end;
    const char *name; // Of its rule.

    // Bytes of the instances of its ops that their labels leave out: "layers.0/".
    uint32_t prefix;
};

struct group_op {
    const tapml_op *op;               // With all texts in the arena.
    struct graph_argument *arguments; // One for each parameter; in the graph's arena.
};

// `is_outside` says of each value of the graph whether something outside of the range uses it.
// TAPML_INVALID as `group_apply`.
tapml_status group_op_make(const struct graph *graph,
                           const struct group_range *range,
                           const uint8_t *is_outside,
                           struct arena *arena,
                           struct group_op *out_op) STATUS_USED;
