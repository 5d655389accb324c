// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The numbers of a graph while it runs: slots and states in every space, and the ways between them.
//
// Which value goes where, and when, is decided by a program (exec/program); what an op writes is
// valid at that op's place until then.
//
// One thread. Failures are those of the backends.
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

// Begins a call: no input and nothing computed is valid. Ends it: the host may ask for values. Of
// each, `valid` has the spaces where the call has left it, a bit each; it is copied.
void value_set_begin_call(struct value_set *set, const struct affine_point *point);
void value_set_end_call(struct value_set *set, const uint16_t *valid);

// All that follow take base values: inputs, states, computed ones.

// The buffer of a value at a place, whatever is in it.
tapml_status value_buffer(struct value_set *set,
                          uint32_t value,
                          uint32_t place,
                          tapml_object **out_buffer) STATUS_USED;

// Before host memory of a value is overwritten by a call: waits until no place reads it.
tapml_status value_claim(struct value_set *set, uint32_t value) STATUS_USED;

// Queues the way of a value, not a state, from host memory to a place, and back. A place with
// another dtype for it takes it as `value_cast` has left it, and leaves it for `value_cast_back`,
// after a wait.
tapml_status value_send(struct value_set *set, uint32_t value, uint32_t place) STATUS_USED;
tapml_status value_receive(struct value_set *set, uint32_t value, uint32_t place) STATUS_USED;
tapml_status value_cast(struct value_set *set, uint32_t value, uint32_t place) STATUS_USED;
tapml_status value_cast_back(struct value_set *set, uint32_t value, uint32_t place) STATUS_USED;

// Brings a place the rows of a state that it lacks, from wherever they are; waits where it must.
tapml_status value_update_state(struct value_set *set, uint32_t value, uint32_t place) STATUS_USED;

// Notes that an op at a place wrote the rows [begin, end) of a state.
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
