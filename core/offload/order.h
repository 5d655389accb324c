// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The order in which op kinds are moved: the most expensive first, by the time they took on the
// source.
//
// One thread. Failures are those of the store and TAPML_NO_MEMORY.
#pragma once

#include "base/status.h"
#include "graph/graph.h"

#include <stdint.h>

struct policy;
struct store;

struct order_kind {
    const tapml_op *op;
    uint64_t time_ns;   // On the source, over the carved calls,
    uint64_t calls;     // and how many these are.
    uint32_t instances; // In the graph.
};

// Every kind of `graph` once. Kinds of equal time are in the order of the graph. The caller frees
// the array by alloc_free.
tapml_status order_kinds(const struct graph *graph,
                         struct store *store,
                         struct order_kind **out_kinds,
                         size_t *out_count) STATUS_USED;

// Puts `io_kinds` into the order that a policy of a plugin gives them; with NULL they stay as they
// are. Fails as policy_order does.
tapml_status
order_by_policy(struct policy *policy, struct order_kind *io_kinds, size_t count) STATUS_USED;
