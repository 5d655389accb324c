// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A state of a graph in every space that uses it.
//
// One space, the owner, always has all rows; for each other space there is the range of rows that
// changed elsewhere since its last update. Memory is allocated, filled and updated when an op needs
// it.
//
// One thread. Failures are those of the backends and TAPML_NO_MEMORY.
#pragma once

#include "exec/space.h"
#include "graph/graph.h"

struct state_rows {
    uint64_t begin, end;
};

struct state {
    struct space_block block;
    const char *name; // Borrowed.
    uint64_t rows;
    uint64_t row_bytes;
    uint32_t dtype;
    activation_set mark; // Its reduced dtypes (exec/cast).
    double initial;
    uint32_t owner;                             // The place that wrote last.
    int is_filled[SPACE_COUNT_MAX];             // Its memory there has values of this sequence.
    struct state_rows changed[SPACE_COUNT_MAX]; // Rows that this space lacks.
};

// `value` is a state; its shape depends on constants and the capacity only, else TAPML_INVALID.
// `mark` is its mark (exec/cast). `state_release` is called after a wait for all places.
tapml_status state_init(struct state *state,
                        const struct graph_value *value,
                        const struct affine_point *point,
                        activation_set mark) STATUS_USED;
void state_release(struct state *state, struct space_set *spaces);

// Begins a sequence: every row has its initial value. Called after a wait for all places.
void state_begin(struct state *state);

// Updates all rows in the space of `place` and returns its buffer there, which the state owns.
tapml_status state_buffer(struct state *state,
                          struct space_set *spaces,
                          uint32_t place,
                          tapml_object **out_buffer) STATUS_USED;

// Notes that `place`, for which `state_buffer` was called, writes the rows [begin, end).
void state_note_write(struct state *state,
                      const struct space_set *spaces,
                      uint32_t place,
                      uint64_t begin,
                      uint64_t end);

// Updates all rows in host memory, which the state owns. SPACE_NO_PLACE was entered before.
tapml_status
state_memory(struct state *state, struct space_set *spaces, const void **out_memory) STATUS_USED;
