// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Table `forecast_limit`: ops that exceed a limit of a device, by a forecast.
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

struct forecasted_limit {
    const char *kind; // Of run/forecast_limits.h.
    const char *instance, *op;
    uint64_t needed, allowed; // 0 where the reason has no number.
    const char *sentence;
};

// Adds the limits of the forecast `name`, which is there. Call it inside of a transaction.
tapml_status forecasted_limit_write(struct store *store,
                                    const char *name,
                                    const struct forecasted_limit *items,
                                    size_t count) STATUS_USED;

// All of a forecast in the order in which they were given, in `arena`.
tapml_status forecasted_limit_list(struct store *store,
                                   const char *name,
                                   struct arena *arena,
                                   struct forecasted_limit **out_items,
                                   size_t *out_count) STATUS_USED;
