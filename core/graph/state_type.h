// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Types of the states of keys and values, in which a graph that is built keeps them in fewer bits.
#pragma once

#include "base/status.h"
#include "graph/graph.h"
#include "tensor/encoding.h"

// F32 is 0, so that zeroed structs are of f32. In the order of the words of [model] state.
enum state_type { STATE_F32, STATE_F16, STATE_Q8_0, STATE_TYPE_COUNT };

// The word of a type in files and options: "f16".
const char *state_type_word(enum state_type type);

// Reads a word. TAPML_INVALID with the choices for another one; `what` names the option that has
// it.
tapml_status
state_type_read(const char *what, const char *word, enum state_type *out_type) STATUS_USED;

// Whether a state is kept in fewer bits.
int state_type_is_reduced(const struct graph_value *state);

// Adds what is lost of `count` values, which are whole rows, to `loss`.
tapml_status state_type_loss(enum state_type type,
                             const float *values,
                             uint64_t count,
                             struct encoding_loss *loss) STATUS_USED;

// Gives every state of keys and values `type`, whichever it had before. These are the states whose
// each use is a parameter that is a state, may be f16, and has the type of no activation. So the
// states of recurrences, which are computed from themselves at every token, stay f32, and so do, in
// blocks, states that do not begin with zeros. No session uses the graph. TAPML_INVALID names a
// state whose heads are no whole blocks of the type.
tapml_status state_type_apply(struct graph *graph, enum state_type type) STATUS_USED;
