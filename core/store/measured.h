// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Table `measure`: what comparers of plugins found of each output of a case that a target ran,
// beside `output_error`. No verdict depends on it. A store and what is read from it belong to one
// thread.
#pragma once

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

struct arena;
struct store;

enum { MEASURED_MAX = 128 }; // Of a result.

struct measured {
    const char *comparer; // "org.example.snr/snr 1.0.0"
    const char *build;    // Of its library: another one makes the measure stale.
    const char *unit;     // What the value is.
    const char *param;    // The output.
    double value;         // Larger is worse; NaN: the comparer cannot tell.
    double limit;         // 0: none.
};

// Copies measures with their texts into `arena`. TAPML_NO_MEMORY is its one failure.
tapml_status measured_copy(const struct measured *items,
                           size_t count,
                           struct arena *arena,
                           const struct measured **out_items) STATUS_USED;

// Writes the measures of a result that the store has, in their order and in the transaction at
// hand. Fails as SQLite does: a full disk, a store that is locked.
tapml_status measured_write(struct store *store,
                            const char *target,
                            int64_t case_id,
                            const struct measured *items,
                            size_t count) STATUS_USED;

// Whether a target has any.
tapml_status measured_has(struct store *store, const char *target, int *out_has) STATUS_USED;

// Reads the measures of a result in their order, into `arena`, which owns the texts too. None are
// no failure.
tapml_status measured_list(struct store *store,
                           const char *target,
                           int64_t case_id,
                           struct arena *arena,
                           struct measured **out_items,
                           size_t *out_count) STATUS_USED;
