// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Slots by liveness: values that are never alive together share memory.
//
// Any thread. TAPML_NO_MEMORY.
#pragma once

#include "base/status.h"
#include "graph/graph.h"
#include "tensor/activation.h"

// Where each computed base value and input of a graph lives.
struct memory_plan {
    uint32_t *slot_of;                   // One for each value; GRAPH_NONE where it needs none.
    struct activation_bytes *slot_bytes; // At places of each activation dtype.
    uint32_t slot_count;
};

// A slot holds its values in every call whose symbols are at most those of `largest` (the capacity
// is the same in all), rounded up to 64 bytes, and is never empty. A value lives from its producer
// (inputs: from the start) to its last reader through any view; outputs of the graph live to the
// end. An output never shares a slot with an input of the same op. `marks` are those of
// exec/cast; NULL: none.
tapml_status memory_plan_create(const struct graph *graph,
                                const struct affine_point *largest,
                                const activation_set *marks,
                                struct memory_plan *out_plan) STATUS_USED;
void memory_plan_release(struct memory_plan *plan);
