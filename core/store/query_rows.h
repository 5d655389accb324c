// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Rows of a view of a query (store/query_views.h), of one store, in memory: the values of the
// columns that the query reads, 16 bytes each, and each text once or seldom more often. They need
// nothing of the store behind that.
//
// One thread fills them, any threads read them then. Rows of several stores may be filled at the
// same time, within one budget of memory.
#pragma once

#include "base/status.h"
#include "store/query_views.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct query_rows;
struct store;

enum query_type { QUERY_NULL, QUERY_INTEGER, QUERY_REAL, QUERY_TEXT, QUERY_BYTES };

struct query_value {
    enum query_type type;
    int64_t integer;
    double real;
    const char *text; // Of `bytes` bytes, with a zero byte behind them; of QUERY_BYTES any bytes.
    size_t bytes;
};

// What all rows of a query may take, and what they do. `most` is 0 where there is no limit.
struct query_rows_budget {
    uint64_t most;
    atomic_uint_fast64_t taken;
};

// Takes bytes of a budget. TAPML_NO_MEMORY if that is more than there may be.
tapml_status query_rows_take(struct query_rows_budget *budget, uint64_t bytes) STATUS_USED;

struct query_rows_options {
    const struct query_view *view; // Outlives the rows, as does the budget.
    uint64_t columns;              // A bit for each that is read: the others have no values.
    struct query_rows_budget *budget;

    // Called again and again by the thread that fills: a status that is not TAPML_OK ends it.
    tapml_status (*check)(void *user);
    void *user;
};

// The caller destroys them. TAPML_NO_MEMORY.
tapml_status query_rows_create(const struct query_rows_options *options,
                               struct query_rows **out_rows) STATUS_USED;
void query_rows_destroy(struct query_rows *rows); // NULL is allowed.

// Adds `count` rows, one for each item of `item_bytes` bytes at `items`. `get` is called for each
// item and column that is read, with values of zeros; a text that it sets lives until the end of
// the call of this function.
typedef void (*query_get_fn)(const void *item, size_t column, struct query_value *out_value);
tapml_status query_rows_add(struct query_rows *rows,
                            query_get_fn get,
                            const void *items,
                            size_t item_bytes,
                            size_t count) STATUS_USED;

// Adds all rows of a view that is read by a statement, from a store. Failures of it are those of
// the store, which name it.
tapml_status
query_rows_copy(struct query_rows *rows, struct store *store, const char *run) STATUS_USED;

size_t query_rows_count(const struct query_rows *rows);

// A value; its bytes live as long as the rows. NULL of a column that is not read.
struct query_value query_rows_value(const struct query_rows *rows, size_t row, size_t column);
