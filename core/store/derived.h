// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Tables `derived` and `derived_element`: what a target made of the cases derived from kept ones.
// Their limits are their own and no rows, so a row has the verdict, and no errors.
//
// A store and what is read from it belong to one thread. What is read is in the arena that is
// given, with all texts, and lives as long as that. Failures are those of the store, which name
// it, and TAPML_NO_MEMORY.
#pragma once

#include "base/status.h"
#include "store/element.h"

#include <stddef.h>
#include <stdint.h>

struct arena;
struct store;

struct derived_row {
    int64_t case_id;    // The kept case that it is derived from.
    const char *source; // "uniform", "boundary", "shape"; "none" where the case has no neighbours.
    const char *label;  // What is special about it.
    const char *verdict, *output, *reason; // As of a result.
    double margin;                         // NaN where there is none.
    struct element_list elements;          // Of a failure's worst output; else none.
    const char
        *basis; // A digest of all that the rows of its op depend on (verify/derived_cases.h).

    // Of the kept case; ignored when it is written.
    const char *instance, *op, *phase, *shape_class;
};

// Makes `items` those of a target, in this order. Call it inside of a transaction.
tapml_status derived_replace(struct store *store,
                             const char *target,
                             const struct derived_row *items,
                             size_t count) STATUS_USED;

// Puts `items` behind those of a target. Call it inside of a transaction.
tapml_status derived_add(struct store *store,
                         const char *target,
                         const struct derived_row *items,
                         size_t count) STATUS_USED;

// Those of a target in their order, in `arena`.
tapml_status derived_list(struct store *store,
                          const char *target,
                          struct arena *arena,
                          struct derived_row **out_items,
                          size_t *out_count) STATUS_USED;

// Deletes those of a target, with their elements.
tapml_status derived_forget(struct store *store, const char *target) STATUS_USED;
