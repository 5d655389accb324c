// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Table `instance`: the ops of the model's graph, as far as a report shows them.
//
// A store and what is read from it belong to one thread. What is read is in the arena that is
// given, with all texts, and lives as long as that. Failures are those of the store, which name
// it, and TAPML_NO_MEMORY.
#pragma once

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

struct arena;
struct store;

struct instance_row {
    const char *instance; // "layers.3/attn/q_proj"
    const char *op;       // "tapml.linear"
    const char *class_;   // What the limit of the op measures: "exact", "elementwise", "reduction".
};

// Makes `items` the instances of the run, in the order of the graph. Call it inside of a
// transaction.
tapml_status
instance_replace(struct store *store, const struct instance_row *items, size_t count) STATUS_USED;

// All of them in the order of the graph, in `arena`.
tapml_status instance_list(struct store *store,
                           struct arena *arena,
                           struct instance_row **out_items,
                           size_t *out_count) STATUS_USED;
