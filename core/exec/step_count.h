// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What a program (exec/program) costs without running it: the calls of each place, what is moved
// to it and from it in a call of the graph, and the memory that it has to have.
//
// A state that is written at one place and read in another space is counted as the rows of the
// call, each time: which rows a place lacks depends on the calls before. Weights are counted once,
// at each place that reads them, as host memory has them; they are uploaded before the first call.
// Outputs that no operator reads are not moved until the host asks for them, and are not counted.
//
// One thread. TAPML_NO_MEMORY is the one failure. Sizes are bytes.
#pragma once

#include "exec/program.h"
#include "exec/value.h"

// Of a place.
struct step_count_place {
    uint32_t calls;             // Ops.
    uint32_t moves_in;          // Values from host memory,
    uint32_t moves_out;         // and to it, in a call of the graph.
    uint64_t bytes_in;          // What these are,
    uint64_t bytes_out;         // and these.
    uint64_t weights_bytes;     // What its ops read of weights and constants,
    uint64_t states_bytes;      // of states,
    uint64_t activations_bytes; // and the buffers of all else that they use.
};

struct step_count {
    struct step_count_place places[SPACE_PLACES_MAX];
};

// All are borrowed.
struct step_count_options {
    const struct graph *graph;
    const struct space_set *spaces;
    const struct value_set *values;
    const struct program *program;
    const uint8_t *places;              // Of each op, as the program has them.
    const struct affine_point *point;   // The call.
    const struct affine_point *largest; // Of every call: buffers have room for it.
};

tapml_status step_count_make(const struct step_count_options *options,
                             struct step_count *out_count) STATUS_USED;

// Bytes of all moves of a call, and how many there are.
uint64_t step_count_bytes(const struct step_count *count);
uint32_t step_count_moves(const struct step_count *count);

// Memory that a place has to have.
uint64_t step_count_memory(const struct step_count_place *place);
