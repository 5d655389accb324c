// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The rows of a table as an array of structs.
//
// A store and what is read from it belong to one thread. Failures are those of the store, which
// name it, and TAPML_NO_MEMORY.
#pragma once

#include "store/row.h"

struct arena;

struct row_list {
    const char *sql; // A literal with one parameter, `key`, or with none where that is NULL.
    const char *key;
    size_t item_bytes;

    // Sets an item, which is zeroed, from the columns of a row. Texts are copied to `arena`; 0
    // where there is no memory.
    int (*take)(struct arena *arena, struct row *row, void *out_item);
};

// Reads all rows into an array of items in `arena`, which is not NULL even where there are none.
tapml_status row_list_read(struct store *store,
                           const struct row_list *list,
                           struct arena *arena,
                           void **out_items,
                           size_t *out_count) STATUS_USED;

// The same of a statement whose first column is a number, such as the id of a case.
tapml_status row_list_ids(struct store *store,
                          const char *sql,
                          const char *key,
                          struct arena *arena,
                          int64_t **out_ids,
                          size_t *out_count) STATUS_USED;
