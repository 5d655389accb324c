// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Which values of a graph are compared with the modules of another implementation.
//
// The modules are in expected.safetensors by the tensors that they apply (docs/judge.md):
// "op.TENSOR" is compared with the output of each op that reads TENSOR, "in.TENSOR" with its input,
// "after.TENSOR" with what ops in a row make of "op.TENSOR" alone, "attention.N.query", ".key" and
// ".value" with what the N-th attention of the graph reads. No table of modules is needed for any
// model. An entry whose shape fits no value is left out.
//
// Constant once it is made. Failures are those named below and TAPML_NO_MEMORY.
#pragma once

#include "graph/graph.h"
#include "model/checkpoint.h"

// A comparison: columns of an entry with an argument of an op.
struct op_check {
    const struct checkpoint_tensor *entry;
    uint32_t op, param;
    uint32_t value;        // Of the graph: that argument.
    int64_t column, width; // Columns of the entry.
    int is_hint;           // The value may be laid out otherwise without a fault.
    int is_state;          // The argument has rows of the whole sequence.
};

struct op_checks;

// Whether a name of the file is one of those above.
int op_checks_is_entry(const char *name);

// Finds the comparisons of all entries of an open file; both are borrowed. The caller owns the
// result. TAPML_INVALID names an entry that is not of rank 2 with `tokens` rows.
tapml_status op_checks_create(const struct graph *graph,
                              const struct checkpoint *expected,
                              int64_t tokens,
                              struct op_checks **out_checks) STATUS_USED;
void op_checks_destroy(struct op_checks *checks);

// The comparisons of an op of the graph, in the order of the file.
const struct op_check *op_checks_of(const struct op_checks *checks, uint32_t op, size_t *out_count);

// How many entries the file has, and for how many there is no comparison.
size_t op_checks_entries(const struct op_checks *checks, size_t *out_unused);

// Whether a value of a graph has a row for each token, and shows all of its base value.
int op_checks_is_whole(const struct graph *graph, uint32_t value);
