// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A question in SQL over views of stores, which are tables of a database in memory. The text of
// the question comes from anybody: it sees these tables and nothing else, no file and no store. It
// may read and call the functions of a list; everything else is refused while it is prepared. Its
// time is bounded by a check of the caller, its memory by a limit of SQLite's for the process.
//
//   query_create, query_prepare      which columns of which views it reads is known then
//   query_open_rows, query_add       for each store; columns that are not read are never filled
//   query_next, query_value          the rows of the answer
//
// A query belongs to one thread, but for `query_open_rows`, whose rows any thread may fill. There
// is one at a time, since the limit of memory is that of the process.
#pragma once

#include "base/status.h"
#include "store/query_rows.h"
#include "store/query_views.h"

#include <stddef.h>
#include <stdint.h>

struct query;

struct query_options {
    const struct query_view *const *views; // QUERY_VIEWS_MAX at most; they outlive the query.
    size_t view_count;
    uint64_t memory_bytes; // What rows and keys may take, and SQLite beside them; 0: no limit.

    // Called again and again, by each thread that fills rows: a status that is not TAPML_OK ends
    // the query with it.
    tapml_status (*check)(void *user);
    void *user;
};

// The caller destroys the query. TAPML_NO_MEMORY.
tapml_status query_create(const struct query_options *options,
                          struct query **out_query) STATUS_USED;
void query_destroy(struct query *query); // NULL is allowed.

// Takes the one statement of the query. What is wrong with it is TAPML_INVALID with SQLite's
// message, and the name that may have been meant.
tapml_status query_prepare(struct query *query, const char *sql) STATUS_USED;

// Whether the statement reads a view, be it to count its rows.
int query_reads(const struct query *query, size_t view);

// Values for `query_rows_add`. NaN and a text that is NULL become NULL.
struct query_value query_integer(int64_t value);
struct query_value query_real(double value);
struct query_value query_text(const char *text);

// Rows of a view, to be filled from one store (query_rows_add, query_rows_copy). Several threads
// may call it at the same time. The caller owns them.
tapml_status
query_open_rows(struct query *query, size_t view, struct query_rows **out_rows) STATUS_USED;

// Adds rows to a view, behind those of earlier calls, and takes them over, also where it fails.
tapml_status query_add(struct query *query, size_t view, struct query_rows *rows) STATUS_USED;

// The next row of the answer; nothing is added any more.
tapml_status query_next(struct query *query, int *out_has) STATUS_USED;

// The columns of the answer and, until the next row, the values of the row. Bytes that are no text
// are given in hexadecimal.
size_t query_columns(const struct query *query);
const char *query_name(const struct query *query, size_t column);
struct query_value query_value(struct query *query, size_t column);
