// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Which points are alike: for each the nearest ones of its own group, as a graph of similarities.
//
// Exact within a group of up to NEAREST_CELL points; a larger group is halved at the median of its
// widest axis until it fits, and a point then has neighbours in its own cell alone. Edges have both
// directions. The same points give the same graph on every machine of one floating-point
// arithmetic.
//
// Any thread. TAPML_NO_MEMORY is the one failure.
#pragma once

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

struct arena;

enum { NEAREST_CELL = 2048, NEAREST_MAX = 16 };

struct nearest_points {
    const float *values; // count x dimensions, a point after the other.
    size_t dimensions;
    const uint32_t *groups; // Of each point, below the number of points.
    size_t count;           // Below 2^31.
};

// Neighbours of point i are others[begin[i]] .. others[begin[i + 1] - 1].
struct nearest_graph {
    size_t count;
    uint64_t *begin; // count + 1
    uint32_t *others;
    float *
        similarities; // exp(-d^2 / 2 s^2) with s^2 the mean of d^2 in the cell: above 0, at most 1.
    float *novelties; // Of each point: d / (d + m), of its mean distance d to its nearest ones and
                      // the mean m of those in its cell; 1 of a point without others.
};

// The `nearest` (at most NEAREST_MAX) nearest of each point. The graph is in `arena`.
tapml_status nearest_find(const struct nearest_points *points,
                          size_t nearest,
                          struct arena *arena,
                          struct nearest_graph *out_graph) STATUS_USED;
