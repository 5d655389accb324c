// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Table `invariance`: whether what a target computes of an op depends on what it must not depend on
// (verify/invariance.h), one row for each target, op and axis.
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

enum { INVARIANT_MODEL = 0 }; // In the place of an op's version: it is the whole model.

struct invariant_row {
    const char *op; // Its full name; "model".
    uint32_t version;
    const char *axis;     // "rows"
    const char *verdict;  // "equal bits", "within limits", "wrong" or "not tried"
    uint64_t size;        // The smallest at which it changes; 0: it does not.
    uint64_t tried;       // Comparisons.
    const char *instance; // Of the first case that changes; or "".
    const char *shape;    // The shape class of that case; or "".
    double margin;        // The worst of what was judged; NaN: nothing was.
    const char *reason;   // Why it is wrong, or was not tried; or "".
    const char *basis;    // A digest of all that the row depends on (verify/basis.h).
};

// Writes a row in the place of an earlier one of its target, op and axis.
tapml_status invariant_write(struct store *store,
                             const char *target,
                             const struct invariant_row *item) STATUS_USED;

// The rows of a target, by op, version and axis; those of the whole model at the end.
tapml_status invariant_list(struct store *store,
                            const char *target,
                            struct arena *arena,
                            struct invariant_row **out_items,
                            size_t *out_count) STATUS_USED;

// Deletes the rows of a target.
tapml_status invariant_forget(struct store *store, const char *target) STATUS_USED;
