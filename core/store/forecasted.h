// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Table `forecast`: devices of which only figures are known, and what they would make of the model,
// with the rows of the tables `forecast_range`, `forecast_limit`, `forecast_time` and
// `forecast_kind`.
//
// A store and what is read from it belong to one thread. What is read is in the arena that is
// given, with all texts, and lives as long as that. Failures are those of the store, which name
// it, and TAPML_NO_MEMORY.
#pragma once

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

struct arena;
struct forecasted_kind;
struct forecasted_limit;
struct forecasted_range;
struct forecasted_time;
struct store;

struct forecasted_row {
    const char *name;        // Of the section in the run's INI file.
    const char *activations; // "f32" or "f16".
    const char *figures;     // The text of the device's file.
    uint64_t tokens;         // That were fed to the source.
    uint64_t weights_bytes, states_bytes, activations_bytes; // On the device.
    struct forecasted_range *ranges;
    size_t range_count;
    struct forecasted_limit *limits;
    size_t limit_count;
    struct forecasted_time *times;
    size_t time_count;
    struct forecasted_kind *kinds; // Of all times.
    size_t kind_count;
};

// Makes `items` those of the run. Call it inside of a transaction.
tapml_status forecasted_replace(struct store *store,
                                const struct forecasted_row *items,
                                size_t count) STATUS_USED;

// All in the order in which they were given, in `arena`.
tapml_status forecasted_list(struct store *store,
                             struct arena *arena,
                             struct forecasted_row **out_items,
                             size_t *out_count) STATUS_USED;
