// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Slots by liveness: values that are never alive together share memory.
//
// Any thread. TAPML_NO_MEMORY is the one failure.
#pragma once

#include "base/status.h"
#include "graph/graph.h"
#include "tensor/activation.h"

// The slot of each computed base value and input of a graph.
struct memory_plan {
    uint32_t *slot_of;                   // One for each value; GRAPH_NONE if it needs no slot.
    struct activation_bytes *slot_bytes; // Of each slot, at places of each activation dtype.
    uint32_t slot_count;
};

// Assigns slots. A slot holds its values in every call whose symbols are at most those of `largest`
// (the capacity is the same in all), rounded up to 64 bytes, and is never empty. A value lives from
// its producer (inputs: from the start) to its last reader through any view; outputs of the graph
// live to the end. An output never shares a slot with an input of the same op. As long as all slots
// together have at most `spare_bytes`, none is shared: places that work at the same time then do
// not wait for each other's memory. `marks` are those of exec/cast; NULL: none. The caller releases
// the plan.
tapml_status memory_plan_create(const struct graph *graph,
                                const struct affine_point *largest,
                                const activation_set *marks,
                                uint64_t spare_bytes,
                                struct memory_plan *out_plan) STATUS_USED;
void memory_plan_release(struct memory_plan *plan);
