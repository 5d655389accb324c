// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Table `limit`: what calibration allows an output of an op. A store and what is read from it
// belong to one thread.
#pragma once

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

struct arena;
struct store;

// All texts are borrowed, none is NULL.
struct limit_row {
    const char *op;
    uint32_t version;
    const char *shape_class;
    const char *param;       // The output.
    const char *calibration; // The devices that gave it: "reference f64 f32".
    const char *oracle;      // A digest of them and of what computes the op there.

    // Each in the unit of its measure (verify/compare.h); 0 if the class of the op has others.
    double ulp, nmse, row_error;
};

// Looks up the row with the op, version, shape class, output and oracle of `io_row`, and sets its
// measures; a digest of an oracle says its calibration too. If there is none, `*out_has` is 0 and
// the measures stay.
tapml_status limit_find(struct store *store, struct limit_row *io_row, int *out_has) STATUS_USED;

// All rows, in `arena` with their texts, in an order in which `limit_search` finds them.
tapml_status limit_list(struct store *store,
                        struct arena *arena,
                        struct limit_row **out_items,
                        size_t *out_count) STATUS_USED;

// As limit_find, in the rows of `limit_list`. Returns whether there is one. [any]
int limit_search(const struct limit_row *items, size_t count, struct limit_row *io_row);

// Writes a row in the place of that of another oracle, in the transaction at hand if there is one;
// one of the same oracle becomes the wider of both.
// Fails as SQLite does: a full disk, a store that is locked.
tapml_status limit_write(struct store *store, const struct limit_row *limit) STATUS_USED;
