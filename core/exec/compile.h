// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// From a graph and the places of its ops to a program.
//
// The steps are made in the order of the graph, and then put into that of exec/dispatch.
//
// A value that an op in another space reads is moved to host memory right after the op that
// computes it, and waited for before the op that reads it. Moves of consecutive calls at a place
// share one point. If a place has another dtype for a value than host memory, a cast stands next to
// the move. A weight is uploaded before the first call that needs it; exec/ring_pass puts turns in
// the place of uploads where a place has a ring.
//
// One thread. Failures are those of the sets of weights (exec/residency) and TAPML_NO_MEMORY.
#pragma once

#include "exec/binding.h"
#include "exec/program.h"
#include "exec/residency.h"

struct value_set;

// All are borrowed: one binding for each op.
struct compile_options {
    const struct graph *graph;
    const struct space_set *spaces;
    const struct value_set *values;
    struct binding *bindings;
    const uint8_t *places;     // Of each op, as exec/schedule gives them.
    struct affine_point point; // Any call with these places.

    // For places without room for all weights: each is released after the last op that needs it,
    // and uploaded again in the next call.
    int releases_weights;
};

// Makes the program of all calls with these places, and evaluates the bindings for `point`. The
// caller owns the program; the sets of weights outlive it.
tapml_status compile_program(const struct compile_options *options,
                             struct program **out_program) STATUS_USED;
