// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A state of a graph in every space that uses it.
//
// One space, the owner, always has all of it; each other one has a range of rows that changed
// elsewhere since it last looked. Memory is made, filled and brought up to date where an op needs
// it.
//
// One thread. Failures are those of the backends.
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
    int is_filled[SPACE_COUNT_MAX];             // In this sequence.
    struct state_rows changed[SPACE_COUNT_MAX]; // Rows that this space lacks.
};

// `value` is a state whose shape does not change: of constants and the capacity. `mark` is its
// mark (exec/cast).
tapml_status state_init(struct state *state,
                        const struct graph_value *value,
                        const struct affine_point *point,
                        activation_set mark) STATUS_USED;
void state_release(struct state *state, struct space_set *spaces);

// Begins a sequence: every row is initial. Nothing may be pending.
void state_begin(struct state *state);

// Makes all rows right in the space of `place` and gives its buffer there.
tapml_status state_buffer(struct state *state,
                          struct space_set *spaces,
                          uint32_t place,
                          tapml_object **out_buffer) STATUS_USED;

// Notes that `place`, which has its buffer, writes the rows [begin, end).
void state_note_write(struct state *state,
                      const struct space_set *spaces,
                      uint32_t place,
                      uint64_t begin,
                      uint64_t end);

// Makes all rows right in host memory. The host itself was entered.
tapml_status
state_memory(struct state *state, struct space_set *spaces, const void **out_memory) STATUS_USED;
