// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Table `forecast_time`: what a call of the model costs on a device, by a forecast.
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

struct forecasted_time {
    const char *phase;            // "prefill" or "decode".
    uint64_t tokens, first_token; // Their number, and the position of the first.
    uint64_t launches;
    double bytes, operations;
    double seconds;                          // NaN if unknown.
    int has_bandwidth, has_rate, has_launch; // What the seconds are made of.
};

// Adds the times of the forecast `name`, which is there. Call it inside of a transaction.
tapml_status forecasted_time_write(struct store *store,
                                   const char *name,
                                   const struct forecasted_time *items,
                                   size_t count) STATUS_USED;

// All of a forecast in the order in which they were given, in `arena`.
tapml_status forecasted_time_list(struct store *store,
                                  const char *name,
                                  struct arena *arena,
                                  struct forecasted_time **out_items,
                                  size_t *out_count) STATUS_USED;
