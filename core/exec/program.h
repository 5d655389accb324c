// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What a call of a graph does, step by step, if each op runs at the place that was chosen for it.
//
// Made once by exec/compile and executed by exec/executor at every call with these places. Which
// numbers go where is decided here; sizes and offsets are those of the call. Steps of a place are
// queued in their order; a value that crosses is waited for by the step that needs it, through a
// point.
//
// A program does not change after it is made.
#pragma once

#include "base/text.h"
#include "exec/space.h"
#include "graph/graph.h"

struct resident;

enum step_kind {
    STEP_UPLOAD,  // A weight to a place, where it is not there yet.
    STEP_MOVE,    // A value between a place and host memory; a state: the rows that a place lacks.
    STEP_CAST,    // A value in host memory from one dtype to another, on its way.
    STEP_CALL,    // Ops at a place.
    STEP_RELEASE, // Takes a weight from a place.
    STEP_SIGNAL,  // A point behind what was queued at a place.
    STEP_WAIT     // A place, or the host, goes on when a point is reached.
};

// A step. Places are indices; SPACE_NOBODY is the host.
struct step {
    enum step_kind kind;
    uint8_t place; // Where: of a move, where the value goes; of a wait, who waits.
    uint8_t from;  // Move: where the value comes from. Wait: whose point it is.

    // Upload, release: into `residents`. Move, cast: the base value. Call: the first of its ops in
    // `nodes`. Signal, wait: the number of the point.
    uint32_t index;
    uint32_t count;     // Call: of ops.
    uint32_t dtype;     // Move: of what goes. Cast: what it becomes.
    uint32_t old_dtype; // Cast: what it was. `place` is where the other one is at home.
};

struct program {
    struct step *steps;
    uint32_t step_count;
    uint32_t *nodes; // Ops of the graph, in the order of their calls.
    uint32_t node_count;
    struct resident **residents; // What the uploads and releases are of. Borrowed.
    uint32_t resident_count;
    uint32_t point_count;
    uint64_t serial; // Its number in the executor.
    uint16_t *valid; // For each value, the spaces in which it is at the end, a bit each.
};

void program_destroy(struct program *program);

// Appends a line for each step. `places` are their names.
void program_print(const struct program *program,
                   const struct graph *graph,
                   const char *const *places,
                   struct text *out_text);
