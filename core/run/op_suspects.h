// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Which op of a graph diverges first, from what is known of its values.
#pragma once

#include "base/text.h"
#include "graph/graph.h"

// What is known of a base value, as bits. What diverges once counts, whatever agreed beside it.
// Hints come from values that may be laid out otherwise without a fault, such as rotated queries:
// one that diverges counts only where it can have caused something else.
enum {
    OP_SUSPECTS_AGREES = 1,
    OP_SUSPECTS_DIVERGES = 2,
    OP_SUSPECTS_HINT_AGREES = 4,
    OP_SUSPECTS_HINT_DIVERGES = 8
};

// Appends the sentence that names the first op of which an output diverges, alone if all that it
// reads agrees, else with the ops before it of which nothing is known. Nothing is appended if no
// value diverges. `known` has a byte for each value of the graph. TAPML_NO_MEMORY.
tapml_status op_suspects_print(const struct graph *graph,
                               const uint8_t *known,
                               struct text *out_text) STATUS_USED;
