// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Table `forecast_range`: ops whose values leave or lose the range of a type, by a forecast.
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

struct forecasted_range {
    const char *type; // "f16" or "bf16".
    const char *instance, *op;
    uint64_t elements;              // Values that were looked at.
    uint64_t beyond, below, zeroed; // Of these, as in tensor/range.h.
    double largest;
    double relative; // Error of all that stay finite,
    double worst;    // and that of the worst call.
};

// Adds the ranges of the forecast `name`, which is there. Call it inside of a transaction.
tapml_status forecasted_range_write(struct store *store,
                                    const char *name,
                                    const struct forecasted_range *items,
                                    size_t count) STATUS_USED;

// All of a forecast in the order in which they were given, in `arena`.
tapml_status forecasted_range_list(struct store *store,
                                   const char *name,
                                   struct arena *arena,
                                   struct forecasted_range **out_items,
                                   size_t *out_count) STATUS_USED;
