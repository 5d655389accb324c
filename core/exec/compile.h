// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// From a graph and the places of its ops to a program.
//
// A value that an op in another space reads is moved to host memory right behind the op that
// computes it, and waited for where it is read. Moves of calls that follow each other at a place
// have one point. Where a place has another dtype for a value than host memory, a cast stands next
// to the move. A weight is uploaded by the first call that needs it.
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
    const uint8_t *places;     // Of each op: who runs it, as exec/schedule says.
    struct affine_point point; // Any call with these places.

    // A place that has no room for all weights: each is released behind the last op that needs it,
    // and uploaded again in the next call.
    int releases_weights;
};

// Evaluates the bindings. The caller owns the program, which the sets of weights outlive.
tapml_status compile_program(const struct compile_options *options,
                             struct program **out_program) STATUS_USED;
