// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Finds the first op of a model that computes something else than another implementation does.
//
// run/op_checks says what of that implementation is compared with which values.
//
// An op diverges where a value that it gives differs. It is named alone if all that it reads is
// known to agree; else it is named with the ops before it, as far back as nothing is known of what
// they give.
//
// One thread. Failures are those named below and TAPML_NO_MEMORY.
#pragma once

#include "base/text.h"
#include "graph/graph.h"
#include "model/checkpoint.h"

struct case_argument;
struct op_judge;

struct op_judge_options {
    const struct graph *graph;         // Borrowed, as is
    const struct checkpoint *expected; // the open file.
    int64_t tokens;                    // Rows that each of its entries has.
    double tolerance;                  // Of the error of a row (expected_row_error).
};

// TAPML_INVALID names an entry that is not of rank 2 with `tokens` rows. The caller owns the judge.
tapml_status op_judge_create(const struct op_judge_options *options,
                             struct op_judge **out_judge) STATUS_USED;
void op_judge_destroy(struct op_judge *judge);

// The op of an instance, or GRAPH_NONE.
uint32_t op_judge_find(const struct op_judge *judge, const char *instance);

// Whether an argument of an op is compared.
int op_judge_wants(const struct op_judge *judge, uint32_t op, uint32_t param);

// Begins a new run, of which nothing is known.
void op_judge_begin(struct op_judge *judge);

// The position of the first token of the calls that follow.
void op_judge_set_position(struct op_judge *judge, int64_t position);

// Compares a call: contents of its inputs are in `before`, of its outputs in `after`.
tapml_status op_judge_see(struct op_judge *judge,
                          uint32_t op,
                          const struct case_argument *arguments) STATUS_USED;

// Notes that a value of the graph agrees or not, by whatever else is known of the run.
void op_judge_note(struct op_judge *judge, uint32_t value, int agrees);

// What was compared since `op_judge_begin`.
struct op_judge_counts {
    size_t entries, unused; // Of the file; without an op of the graph.
    double worst;           // The largest error of a row, but for those of attentions,
    const char *worst_name; // and its entry; or NULL.
};
struct op_judge_counts op_judge_counts(const struct op_judge *judge);

// Appends the sentence that names the first op that diverges, or nothing if none does.
tapml_status op_judge_print(const struct op_judge *judge, struct text *out_text) STATUS_USED;
