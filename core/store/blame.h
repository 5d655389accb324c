// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Table `blame`: instances that stay on the source when the offload to a target has ended, and why.
// If the driver of the target is wrong, all of them do: then the one row is about the driver.
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

// The values of the column `kind`.
#define BLAME_ALONE       "alone"       // It fails by itself.
#define BLAME_TOGETHER    "together"    // The model diverges with it and agrees without it.
#define BLAME_UNSUPPORTED "unsupported" // The target does not have it.

// The values of the column `evidence`: the strongest that there is, from the strongest on.
#define BLAME_CASE    "case"    // A kept case fails.
#define BLAME_DERIVED "derived" // A case derived from a kept one fails.
#define BLAME_CALL    "call"    // A call of a shadow or cumulative run failed.
#define BLAME_MODEL   "model"   // The model alone.

// What stands for the instance in the row about a driver. Its `kind` is BLAME_ALONE and its
// `evidence` "", as of no row about an op; `source` is the check that fails, `label` what repeats
// it.
#define BLAME_DRIVER "driver"

struct blame_row {
    const char *instance;
    const char *kind;
    double margin;          // observed / limit; NaN where there is none.
    const char *reason;     // A sentence.
    const char *evidence;   // Or "" of what is unsupported.
    int64_t case_id;        // The kept case, or the one that the derived case is made from; or 0.
    const char *source;     // Of a derived case: as `derived.source`; else "".
    const char *label;      // Of a derived case: as `derived.label`; else "".
    uint64_t tried, failed; // How often it was tried whether it fails, and did; 0: not counted.
};

tapml_status
blame_write(struct store *store, const char *target, const struct blame_row *item) STATUS_USED;

// Those of a target in the order of the graph, in `arena`.
tapml_status blame_list(struct store *store,
                        const char *target,
                        struct arena *arena,
                        struct blame_row **out_items,
                        size_t *out_count) STATUS_USED;
tapml_status blame_forget(struct store *store, const char *target) STATUS_USED;

// Whether the row blames the driver of the target, and no op.
int blame_is_driver(const struct blame_row *item);

// Whether the row blames the op: it fails, alone or together with others.
int blame_is_failure(const struct blame_row *item);
