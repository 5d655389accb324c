// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Where two dumps part: tensors are paired by their names, in the order of the first dump, and
// each pair is compared.
//
// Where the op of a tensor is known, and all that it was computed from is equal in both dumps, the
// limit is the floor of the op's class (verify/compare.h): the op alone makes the difference.
// Else what is upstream differs within its limits, and the limit is DIVERGENCE_NMSE, or the floor
// of the shorter type. Of a tensor that is printed as text the values that both show are compared,
// beyond the unit of their last digit, and the sum of all.
//
// One thread.
#pragma once

#include "base/status.h"
#include "dump/tensor_distance.h"

#include <stddef.h>

struct arena;
struct catalogue;
struct dump;
struct name_map;

#define DIVERGENCE_NMSE 1e-6 // A relative error of a thousandth.

// Of a tensor of the first dump. The dumps own what it points to.
struct divergence_row {
    const struct dump_tensor *first, *second; // `second` is NULL if it is alone.
    int is_op_alone; // All that it was computed from is equal: the op is what differs.
    struct tensor_distance distance;
};

struct divergence {
    struct arena *arena;
    struct divergence_row *rows;
    size_t count;
    const struct dump_tensor **only_second;
    size_t only_second_count;
    size_t counts[TENSOR_DISTANCE_STATES]; // Of each state.
    const struct divergence_row *first;    // That is different; NULL: none.
};

struct divergence_options {
    const struct dump *first, *second;
    const struct name_map *names;      // Of the first dump in the second; NULL: as they are.
    const struct catalogue *catalogue; // Of our ops.
    double nmse;                       // In place of all limits; 0: none.
};

// Compares two dumps. The caller releases the result, which points into both. TAPML_NO_MEMORY;
// TAPML_INVALID: no name is in both.
tapml_status divergence_find(const struct divergence_options *options,
                             struct divergence *out_divergence) STATUS_USED;
void divergence_release(struct divergence *divergence); // A zeroed one is allowed.
