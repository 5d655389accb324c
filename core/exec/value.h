// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The numbers of a graph while it runs: slots and states in every space, and where each value is
// valid in this call.
//
// A value is moved to a space once, when its first reader there asks for it, and with one wait
// comes what else of its device is read elsewhere. What an op writes is valid at that op's place
// alone.
#pragma once

#include "exec/memory.h"
#include "exec/space.h"
#include "graph/graph.h"

struct value_set;

// `graph` and `spaces` outlive the set. `largest` bounds all calls. The caller owns the set.
tapml_status value_set_create(const struct graph *graph,
                              struct space_set *spaces,
                              const struct affine_point *largest,
                              struct value_set **out_set) STATUS_USED;

// After a wait for all places.
void value_set_destroy(struct value_set *set);

// Begins a sequence: states are initial. After a wait for all places.
void value_set_begin(struct value_set *set);

// Begins a call: no input and nothing computed is valid.
void value_set_begin_call(struct value_set *set, const struct affine_point *point);

// Says of each value of the call, with a byte, whether it crosses: an op reads it in another space
// than that in which it is computed. Borrowed until the next call begins; before, none is known.
void value_set_expect(struct value_set *set, const uint8_t *is_crossing);

// All that follow take base values: inputs, states, computed ones.

// The buffer of a value at a place, with the value in it.
tapml_status value_read(struct value_set *set,
                        uint32_t value,
                        uint32_t place,
                        tapml_object **out_buffer) STATUS_USED;

// The same, for an op that will change it: a state, an in-out parameter.
tapml_status value_update(struct value_set *set,
                          uint32_t value,
                          uint32_t place,
                          tapml_object **out_buffer) STATUS_USED;

// The buffer at a place of what an op there will compute.
tapml_status value_write(struct value_set *set,
                         uint32_t value,
                         uint32_t place,
                         tapml_object **out_buffer) STATUS_USED;

// Notes that an op at a place wrote a computed value; rows [begin, end) of a state.
void value_note_write(struct value_set *set, uint32_t value, uint32_t place);
void value_note_rows(
    struct value_set *set, uint32_t value, uint32_t place, uint64_t begin, uint64_t end);

// For the host: a value in host memory, waited for; and the memory of an input, to be written,
// which makes it valid there.
tapml_status
value_memory(struct value_set *set, uint32_t value, const void **out_memory) STATUS_USED;
tapml_status
value_input_memory(struct value_set *set, uint32_t value, void **out_memory) STATUS_USED;

// The marks of exec/cast, one for each value.
const activation_set *value_marks(const struct value_set *set);

// Bytes of a value in this call, dense.
uint64_t value_bytes(const struct value_set *set, uint32_t value);

// Bytes that a buffer for a value has at a place, in every call.
uint64_t value_buffer_bytes(const struct value_set *set, uint32_t value, uint32_t place);
