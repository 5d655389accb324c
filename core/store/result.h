// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Table `result`: what a target made of a case, and what computed that. A result is fresh as long
// as everything is the same that it depends on: it is stale otherwise, and never used.
#pragma once

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

struct arena;
struct store;

// All that a result depends on beside its case. None is NULL.
struct result_maker {
    const char *implementation; // Of the op: plugin and digest (`backend_identity`).
    const char *device;         // "COMPONENT:DEVICE"
    const char *driver;         // "NAME OF THE DEVICE, DRIVER"
    const char *options;        // "activations=f16", or "".
    const char *oracle;         // Digest of what gives the limits of the op; "" where nothing does.
};

struct result_row {
    int64_t case_id;
    const char *verdict, *output, *reason;
    double margin; // NaN where nothing was compared.
    uint64_t time_ns;
    uint64_t beyond, total; // Elements of a failure's worst output; else 0.

    // Of the case; ignored when a result is written.
    const char *instance, *op, *phase, *shape_class;
};

// Writes the result of a case, in the place of an earlier one and of its elements.
tapml_status result_write(struct store *store,
                          const char *target,
                          const struct result_row *item,
                          const struct result_maker *maker) STATUS_USED;

// The fresh result of a case, in `arena`. TAPML_NOT_FOUND where there is none.
tapml_status result_find(struct store *store,
                         const char *target,
                         int64_t case_id,
                         const struct result_maker *maker,
                         struct arena *arena,
                         struct result_row *out_item) STATUS_USED;

// All results of a target in the order of their cases, in `arena`.
tapml_status result_list(struct store *store,
                         const char *target,
                         struct arena *arena,
                         struct result_row **out_items,
                         size_t *out_count) STATUS_USED;
tapml_status result_count(struct store *store, const char *target, size_t *out_count) STATUS_USED;

// Deletes the results of a target that are stale, of the cases of one op, and counts them.
tapml_status result_forget_stale(struct store *store,
                                 const char *target,
                                 const char *op,
                                 uint32_t version,
                                 const struct result_maker *maker,
                                 size_t *out_count) STATUS_USED;
tapml_status result_forget(struct store *store, const char *target) STATUS_USED;
