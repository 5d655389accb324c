// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The inputs of a graph: what each call brings anew, evaluated in host memory and checked.
//
// "input_ids" are the tokens of the call, "rows" those whose logits are wanted; a user's other
// inputs are given, or filled with their fallback; the rest is filled by the model plugin. Integers
// from outside are held against the `domain` of the parameters that take them: a kernel trusts
// them.
//
// One thread. A value outside of its domain is TAPML_INVALID, with its name.
#pragma once

#include "exec/binding.h"
#include "exec/value.h"
#include "graph/graph.h"
#include "plugin/model.h"

struct input_set;

// One call, as far as the inputs are concerned.
struct input_call {
    struct affine_point point;
    const int32_t *ids;  // T of them; NULL where the graph has no "input_ids".
    const int32_t *rows; // R of them; NULL: 0 .. R - 1.
    int64_t length;      // The longest sequence that is known of.
};

// All are borrowed; `bindings` has one entry for each op of `graph`; `model` fills what only it
// can, and may be NULL where there is nothing to fill. The caller owns the set. Inputs that no call
// can bring are refused.
tapml_status input_set_create(const struct graph *graph,
                              struct model *model,
                              struct value_set *values,
                              struct binding *bindings,
                              struct input_set **out_set) STATUS_USED;
void input_set_destroy(struct input_set *set);

// Gives a user's input for the calls that follow; NULL takes it back. Copied. TAPML_NOT_FOUND where
// the graph has no such input.
tapml_status
input_give(struct input_set *set, const char *name, const void *data, uint64_t bytes) STATUS_USED;

// Evaluates and checks all inputs.
tapml_status input_evaluate(struct input_set *set, const struct input_call *call) STATUS_USED;
