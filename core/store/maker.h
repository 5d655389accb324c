// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Table `maker`: what the results of each op on a target depend on, as of the last start that
// replayed. It says without any device which results are stale. A store and what is read from it
// belong to one thread.
#pragma once

#include "base/status.h"
#include "store/result.h"

#include <stddef.h>
#include <stdint.h>

struct arena;
struct store;

// Makes `maker` that of an op on a target, in the transaction at hand if there is one. Fails as
// SQLite does: a full disk, a store that is locked.
tapml_status maker_write(struct store *store,
                         const char *target,
                         const char *op,
                         uint32_t version,
                         const struct result_maker *maker) STATUS_USED;

// What the results of an op depend on.
struct maker_row {
    const char *op;
    uint32_t version;
    struct result_maker maker;
};

// Those of a target, in `arena` with their texts, in an order in which `maker_search` finds them.
tapml_status maker_list(struct store *store,
                        const char *target,
                        struct arena *arena,
                        struct maker_row **out_items,
                        size_t *out_count) STATUS_USED;

// The row of an op among those of `maker_list`, or NULL: no start has replayed it. [any]
const struct maker_row *
maker_search(const struct maker_row *items, size_t count, const char *op, uint32_t version);

// Whether a result of `maker` is stale beside that of the last start: another implementation,
// device, driver or option computed it. An oracle has no part in that. [any]
int maker_differs(const struct result_maker *maker, const struct result_maker *last);
