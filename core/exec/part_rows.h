// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The rows of other graphs that tokens of a prompt stand for (graph_part), one after the other.
//
// One thread. Failures are TAPML_NO_MEMORY and those that a function names.
#pragma once

#include "base/status.h"
#include "graph/graph.h"

struct part_rows;

// One call, as far as its tokens are concerned.
struct part_rows_call {
    const int32_t *ids;
    int64_t position, count; // Of the first of them in the sequence, and how many.
    int64_t prompt;          // Tokens of the sequence that are its prompt.
};

// For all parts of `graph`, which is borrowed. The caller owns the set; `part_rows_destroy` accepts
// NULL.
tapml_status part_rows_create(const struct graph *graph, struct part_rows **out_set) STATUS_USED;
void part_rows_destroy(struct part_rows *set);

// Gives `count` rows, dense, for the sequences that follow; they are copied. NULL takes them back.
// `part` is the index of a part of the graph.
tapml_status
part_rows_give(struct part_rows *set, uint32_t part, const float *rows, int64_t count) STATUS_USED;

// Writes the input `value`, of one of the parts, for a call: `memory` has its shape. A call begins
// where the one before ended, anew where that began, or at position 0. TAPML_INVALID if the prompt
// has more tokens than there are rows.
tapml_status part_rows_write(struct part_rows *set,
                             uint32_t value,
                             const struct part_rows_call *call,
                             float *memory) STATUS_USED;

// The tokens among `ids` that stand for rows of a part.
int64_t part_rows_wanted(const struct graph_part *part, const int32_t *ids, int64_t count);
