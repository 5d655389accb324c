// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The outputs of a graph, as dense f32 in host memory.
//
// One thread. Failures are those of the backends and TAPML_NO_MEMORY.
#pragma once

#include "exec/value.h"
#include "graph/graph.h"

struct output_set;

// Borrowed from the set: valid until the next call.
struct output {
    const float *values;
    int64_t shape[TAPML_MAX_RANK];
    uint32_t rank;
};

// Graph and values are borrowed. The caller owns the set; `output_set_destroy` accepts NULL.
tapml_status output_set_create(const struct graph *graph,
                               struct value_set *values,
                               struct output_set **out_set) STATUS_USED;
void output_set_destroy(struct output_set *set);

// Waits for an output of the call at `point`. TAPML_NOT_FOUND if the graph has no output of that
// name.
tapml_status output_get(struct output_set *set,
                        const char *name,
                        const struct affine_point *point,
                        struct output *out_output) STATUS_USED;
