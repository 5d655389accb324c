// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The inputs of a graph: what is new in each call, written to host memory and checked.
//
// "input_ids" are the tokens of the call, "rows" those whose logits are wanted; other inputs of the
// user are set, or filled with their fallback; rows of other graphs are given for whole sequences
// (exec/part_rows); the model plugin fills the rest. Integers are
// checked against the `domain` of the parameters that take them, since a kernel does not check
// them.
//
// One thread. TAPML_INVALID names an input with a value outside of its domain; other failures are
// those of the model plugin and TAPML_NO_MEMORY.
#pragma once

#include "exec/binding.h"
#include "exec/value.h"
#include "graph/graph.h"
#include "plugin/model.h"

struct input_set;

// One call, as far as the inputs are concerned.
struct input_call {
    struct affine_point point;
    const int32_t *ids;  // T of them; NULL if the graph has no "input_ids".
    const int32_t *rows; // R of them; NULL: 0 .. R - 1.
    int64_t length;      // Tokens of the sequence, as far as they are known.
    int64_t prompt;      // Of these, as far as they are announced.
};

// All are borrowed; `bindings` has one entry for each op of `graph`; `model` fills the inputs of
// TAPML_FROM_FILL, and may be NULL if there are none. The caller owns the set; `input_set_destroy`
// accepts NULL. TAPML_INVALID names an input that no call can fill.
tapml_status input_set_create(const struct graph *graph,
                              struct model *model,
                              struct value_set *values,
                              struct binding *bindings,
                              struct input_set **out_set) STATUS_USED;
void input_set_destroy(struct input_set *set);

// Sets a user's input for the calls that follow: `bytes` bytes, copied. NULL sets it back to its
// fallback. TAPML_NOT_FOUND if the graph has no such input.
tapml_status
input_give(struct input_set *set, const char *name, const void *data, uint64_t bytes) STATUS_USED;

// As `part_rows_give`: the rows of a part of the graph.
tapml_status
input_give_rows(struct input_set *set, uint32_t part, const float *rows, int64_t count) STATUS_USED;

// Fills and checks all inputs of a call. TAPML_PRECONDITION if an input is neither set nor has a
// fallback, TAPML_INVALID if one that is set has the wrong size for this call, or if a token stands
// for a row that was not given.
tapml_status input_evaluate(struct input_set *set, const struct input_call *call) STATUS_USED;
