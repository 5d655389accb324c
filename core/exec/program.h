// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What a call of a graph does, step by step, with each op at the place that was chosen for it.
//
// Made once by exec/compile and executed by exec/executor at every call with these places. The
// program decides which values move where; sizes and offsets are those of the call. The steps of a
// place are queued in their order, which is that of the graph; a wait for a point stands before the
// step that needs a value of another place. The order among places is that of exec/dispatch.
//
// A program does not change after it is made. Any thread may read it.
#pragma once

#include "base/text.h"
#include "exec/space.h"
#include "graph/graph.h"

struct resident;

enum step_kind {
    STEP_UPLOAD,  // A weight to a place, unless it is there.
    STEP_MOVE,    // A value between a place and host memory; a state: the rows that a place lacks.
    STEP_CAST,    // A value in host memory from one dtype to another, on its way.
    STEP_CALL,    // Ops at a place.
    STEP_RELEASE, // Takes a weight from a place.
    STEP_TURN,    // A place with a ring turns to its next section (exec/ring).
    STEP_ROUTE,   // A place with a ring loads the experts that an op has chosen.
    STEP_SIGNAL,  // A point after all work that is queued at a place.
    STEP_WAIT     // A place, or the host, waits for a point.
};

// A step. Places are indices; SPACE_NO_PLACE is the host.
struct step {
    enum step_kind kind;
    uint8_t place; // Move: where the value goes. Wait: the place that waits.
    uint8_t from;  // Move: where the value comes from. Wait: the place of the point.

    // Upload, release: into `residents`. Move, cast: the base value. Call: the first of its ops in
    // `nodes`. Signal, wait: the number of the point. Turn: the section. Route: the op, in the
    // experts of the ring.
    uint32_t index;
    uint32_t count;     // Call: of ops.
    uint32_t dtype;     // Move: of the value. Cast: the new one.
    uint32_t old_dtype; // Cast: the one before. `place` is the place with the reduced dtype.
};

struct program {
    struct step *steps;
    uint32_t step_count;
    uint32_t *nodes; // Ops of the graph, in the order of their calls.
    uint32_t node_count;
    struct resident **residents; // The weights of uploads and releases. Borrowed.
    uint32_t resident_count;
    uint32_t point_count;
    uint64_t serial; // Its number in the executor.
    uint16_t *valid; // For each value, the spaces in which it is valid at the end, a bit each.

    // For each value, the place from which it is on its way to host memory at the end, where the
    // host has not waited for it; or SPACE_NO_PLACE.
    uint8_t *arrives;

    struct ring_program *rings[SPACE_PLACES_MAX]; // Of places with a ring; else NULL.
};

// Frees a program of `compile_program`. Accepts NULL.
void program_destroy(struct program *program);

// Appends a line for each step. `places` are the names of the places. The status of `out_text`
// reports a failure.
void program_print(const struct program *program,
                   const struct graph *graph,
                   const char *const *places,
                   struct text *out_text);
