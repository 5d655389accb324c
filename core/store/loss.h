// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Table `loss`: what encoding each weight at load cost, where that was asked for.
//
// A store and what is read from it belong to one thread. What is read is in the arena that is
// given, with all texts, and lives as long as that. Failures are those of the store, which name
// it, and TAPML_NO_MEMORY.
#pragma once

#include "base/status.h"

#include <stddef.h>

struct arena;
struct store;

struct loss_row {
    const char *weight;
    double relative; // Root of the squared errors over the squared values.
    double largest;  // Largest difference of a value.
};

// Makes `items` those of the run. Call it inside of a transaction.
tapml_status
loss_replace(struct store *store, const struct loss_row *items, size_t count) STATUS_USED;

// All in the order in which they were given, in `arena`.
tapml_status loss_list(struct store *store,
                       struct arena *arena,
                       struct loss_row **out_items,
                       size_t *out_count) STATUS_USED;
