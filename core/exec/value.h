// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The values of a graph while it runs: slots and states in every space, and the moves between them.
//
// A program (exec/program) decides which value is moved when; until then a value is valid only at
// the place of the op that wrote it.
//
// One thread. Failures are those of the backends and TAPML_NO_MEMORY. Sizes are bytes.
#pragma once

#include "exec/memory.h"
#include "exec/space.h"
#include "graph/graph.h"

struct value_set;

// What several places may take in host memory so that they wait less for each other.
enum { VALUE_SPARE_BYTES = 16 << 20 };

// `graph` and `spaces` outlive the set. No symbol of a call is larger than in `largest`. The caller
// owns the set.
tapml_status value_set_create(const struct graph *graph,
                              struct space_set *spaces,
                              const struct affine_point *largest,
                              struct value_set **out_set) STATUS_USED;

// After a wait for all places.
void value_set_destroy(struct value_set *set);

// Begins a sequence: states get their initial values. Called after a wait for all places.
void value_set_begin(struct value_set *set);

// Begins a call: no input and no computed value is valid. Ends it: the host may read values.
// `valid` has for each value the spaces in which the call has left it, a bit each, `arrives` the
// place from which it is still on its way to host memory, or SPACE_NO_PLACE (NULL: none is); both
// are copied.
void value_set_begin_call(struct value_set *set, const struct affine_point *point);
void value_set_end_call(struct value_set *set, const uint16_t *valid, const uint8_t *arrives);

// All functions below take base values: inputs, states, computed values.

// The buffer of a value at a place, whether its contents are valid or not. The set owns it.
tapml_status value_buffer(struct value_set *set,
                          uint32_t value,
                          uint32_t place,
                          tapml_object **out_buffer) STATUS_USED;

// Waits until no place reads the host memory of a value. To be called before a call overwrites it.
tapml_status value_claim(struct value_set *set, uint32_t value) STATUS_USED;

// Queue the move of a value, which is no state, from host memory to a place, and back. For a place
// with another dtype of it, `value_cast` converts before the way there, and `value_cast_back` after
// the way back and a wait.
tapml_status value_send(struct value_set *set, uint32_t value, uint32_t place) STATUS_USED;
tapml_status value_receive(struct value_set *set, uint32_t value, uint32_t place) STATUS_USED;
tapml_status value_cast(struct value_set *set, uint32_t value, uint32_t place) STATUS_USED;
tapml_status value_cast_back(struct value_set *set, uint32_t value, uint32_t place) STATUS_USED;

// Copies the rows of a state that a place lacks from the spaces that have them; waits if it must.
tapml_status value_update_state(struct value_set *set, uint32_t value, uint32_t place) STATUS_USED;

// Notes that an op at a place wrote the rows [begin, end) of a state.
void value_note_rows(
    struct value_set *set, uint32_t value, uint32_t place, uint64_t begin, uint64_t end);

// For the host: the host memory of a value, after a wait until it is valid there; the host memory
// of an input to be written, which makes it valid there. Both until the next call.
tapml_status
value_memory(struct value_set *set, uint32_t value, const void **out_memory) STATUS_USED;
tapml_status
value_input_memory(struct value_set *set, uint32_t value, void **out_memory) STATUS_USED;

// The marks of exec/cast, one for each value. Live as long as the set.
const activation_set *value_marks(const struct value_set *set);

// Plans the slots of a session whose largest call is `largest`, as the set does for its own. The
// caller releases the plan.
tapml_status value_plan_slots(const struct value_set *set,
                              const struct affine_point *largest,
                              struct memory_plan *out_plan) STATUS_USED;

// The slot whose host memory a value that is no state has, of `value_slot_count`. Values that are
// never alive together share one.
uint32_t value_slot(const struct value_set *set, uint32_t value);
uint32_t value_slot_count(const struct value_set *set);

// Whether a value has a buffer at a place; whether a slot has one; its size, there or not. Frees
// that of a slot, which no queued work uses.
int value_has_buffer(const struct value_set *set, uint32_t value, uint32_t place);
int value_slot_is_there(const struct value_set *set, uint32_t slot, uint32_t place);
uint64_t value_slot_bytes(const struct value_set *set, uint32_t slot, uint32_t place);
void value_free_slot(struct value_set *set, uint32_t slot, uint32_t place);

// The size of a value in this call, dense.
uint64_t value_bytes(const struct value_set *set, uint32_t value);

// The size of the buffer of a value at a place, which is the same in every call.
uint64_t value_buffer_bytes(const struct value_set *set, uint32_t value, uint32_t place);
