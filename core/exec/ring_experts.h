// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The experts of mixtures in less memory than they take: of an op that reads one weight of a list
// for each of its indices, those are loaded that were chosen, once the indices are known. A hot set
// keeps those of all such ops of a place that were used last.
//
// A unit is an expert of an op, with its weight and bias. Slots of one size have a unit each. A
// weight that is not chosen is bound to the slot of one that is: nothing reads it.
//
// One thread, that of the place's backend, whose failures are returned. Sizes are bytes.
#pragma once

#include "exec/residency.h"

// An op with experts.
struct ring_experts_op {
    uint32_t op;         // In the graph.
    uint32_t tensor;     // Of its indices, in its binding.
    uint32_t first_unit; // Of `count`, one for each expert.
    uint32_t count;
    uint32_t each; // Weights of a unit: 1, or 2 with a bias.
};

// Those of a program at a place. Zeroed: there are none.
struct ring_experts_plan {
    struct ring_experts_op *ops;
    uint32_t op_count;
    struct resident **residents; // Those of the units, one unit after another. Borrowed.
    uint32_t resident_count;
    uint32_t *first; // For each unit, its first resident; and the end.
    uint32_t unit_count;
    uint64_t unit_bytes;    // Of the largest, which is that of a slot.
    uint64_t weights_bytes; // Of all units.
    uint32_t slots;         // Not fewer than the units of an op.
};

void ring_experts_plan_release(struct ring_experts_plan *plan);

struct ring_experts;

// Without memory until a program begins. `weights` as in `ring_create`. The caller destroys it
// after a wait for the backend; NULL is allowed.
tapml_status ring_experts_create(struct backend *backend,
                                 struct residency *weights,
                                 struct ring_experts **out_experts) STATUS_USED;
void ring_experts_destroy(struct ring_experts *experts);

// Makes the slots of a program and empties them; NULL forgets the one before. The backend has no
// work.
tapml_status ring_experts_begin(struct ring_experts *experts,
                                const struct ring_experts_plan *plan) STATUS_USED;

// Forgets the program, which is destroyed. Slots stay until another one begins.
void ring_experts_forget(struct ring_experts *experts);

// What slots have is in doubt.
void ring_experts_empty(struct ring_experts *experts);

// Binds the units of the op `index` of the plan, those that `indices` name where they belong. The
// backend has no work; loads are queued. TAPML_INVALID for an index that is none.
tapml_status ring_experts_route(struct ring_experts *experts,
                                uint32_t index,
                                const int32_t *indices,
                                uint64_t count) STATUS_USED;

// Behind the call of the op.
void ring_experts_leave(struct ring_experts *experts);

// Since it was created.
struct ring_experts_figures {
    uint64_t chosen;       // Units that were chosen, each once in a call of an op,
    uint64_t hits;         // of which so many were there.
    uint64_t loaded_bytes; // The others.
    uint64_t all_bytes;    // All units of all calls: what would be loaded without routing.
};
struct ring_experts_figures ring_experts_figures(const struct ring_experts *experts);
