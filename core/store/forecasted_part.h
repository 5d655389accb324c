// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A table with rows of each forecast, in their order: what `forecast_range`, `forecast_limit`,
// `forecast_time` and `forecast_kind` share.
//
// A store and what is read from it belong to one thread. What is read is in the arena that is
// given, with all texts, and lives as long as that. Failures are those of the store, which name
// it, and TAPML_NO_MEMORY.
#pragma once

#include "store/row.h"

struct arena;

struct forecasted_part {
    const char *insert; // A literal: the parameters are name and position, then what `put` gives.
    const char *select; // A literal, with the name as its parameter.
    size_t item_bytes;
    void (*put)(struct row *row, const void *item);
    int (*take)(struct arena *arena, struct row *row, void *out_item); // As in store/row_list.h.
};

// Adds rows of the forecast `name`, which is there. Call it inside of a transaction.
tapml_status forecasted_part_write(struct store *store,
                                   const struct forecasted_part *part,
                                   const char *name,
                                   const void *items,
                                   size_t count) STATUS_USED;

// All rows of a forecast in the order in which they were given, an array in `arena`.
tapml_status forecasted_part_list(struct store *store,
                                  const struct forecasted_part *part,
                                  const char *name,
                                  struct arena *arena,
                                  void **out_items,
                                  size_t *out_count) STATUS_USED;
