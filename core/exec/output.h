// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The outputs of a graph, as dense f32 in host memory.
//
// One thread.
#pragma once

#include "exec/value.h"
#include "graph/graph.h"

struct output_set;

// The numbers live until the next call.
struct output {
    const float *values;
    int64_t shape[TAPML_MAX_RANK];
    uint32_t rank;
};

// Both are borrowed. The caller owns the set.
tapml_status output_set_create(const struct graph *graph,
                               struct value_set *values,
                               struct output_set **out_set) STATUS_USED;
void output_set_destroy(struct output_set *set);

// An output of the call at `point`, waited for. TAPML_NOT_FOUND where the graph has none of that
// name.
tapml_status output_get(struct output_set *set,
                        const char *name,
                        const struct affine_point *point,
                        struct output *out_output) STATUS_USED;
