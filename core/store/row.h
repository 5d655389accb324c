// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// One execution of a statement of a store: values go in by order, columns come out by order.
//
//   struct row row;
//   TAPML_TRY(row_begin(store, "INSERT INTO metadata VALUES (?, ?)", "writing metadata", &row));
//   row_put_text(&row, name);
//   row_put_text(&row, value);
//   return row_run(&row);
//
// A statement is kept prepared: one row at a time works with the same text. After a failure of a
// function the row needs no `row_end`.
//
// A row belongs to the thread of its store. Failures are those of `store_fail`, with `doing`.
#pragma once

#include "base/hash.h"
#include "base/status.h"

#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct store;

enum { ROW_HASH_BYTES = 16 };

struct row {
    struct store *store;
    sqlite3_stmt *statement;
    const char *doing; // For messages: "writing metadata".
    int at;            // Of the next value, from 1.
    int code;          // The first that was not SQLITE_OK.
};

// `sql` and `doing` are literals.
tapml_status
row_begin(struct store *store, const char *sql, const char *doing, struct row *out_row) STATUS_USED;

// The next value. Texts and bytes stay valid until the row ends; NULL and NaN become NULL.
void row_put_text(struct row *row, const char *text);
void row_put_i64(struct row *row, int64_t value);
void row_put_f64(struct row *row, double value);
void row_put_bytes(struct row *row, const void *data, uint64_t bytes);
void row_put_hash(struct row *row, struct hash hash); // 16 bytes, as they read in hexadecimal.
void row_put_null(struct row *row);
void row_put_column(struct row *row, struct row *from, int column); // Of a result, as it is.

// Executes what returns no rows, and ends the row.
tapml_status row_run(struct row *row) STATUS_USED;

// Steps to the next result. Where there is none, or after a failure, the row has ended.
tapml_status row_next(struct row *row, int *out_has) STATUS_USED;

// Columns of the result, from 0. Pointers live until the next step or the end.
const char *row_text(struct row *row, int column); // "" for NULL.
// The same in `arena`, or `likely` if it says the same; that may be NULL. NULL: no memory.
const char *row_keep(struct row *row, int column, const char *likely, struct arena *arena);
int64_t row_i64(struct row *row, int column); // 0 for NULL.
double row_f64(struct row *row, int column);  // NaN for NULL.
const void *row_bytes(struct row *row, int column, uint64_t *out_bytes);
int row_hash(struct row *row, int column, struct hash *out_hash); // Whether it is one.
int row_is_null(struct row *row, int column);

// The columns of a result, and what one of them holds.
enum row_type { ROW_NULL, ROW_INTEGER, ROW_REAL, ROW_TEXT, ROW_BYTES };
int row_columns(struct row *row);
enum row_type row_type(struct row *row, int column);

// The bytes that stand for a hash, as they read in hexadecimal.
void row_print_hash(struct hash hash, unsigned char out_bytes[ROW_HASH_BYTES]);

void row_end(struct row *row);

// Whole statements. `sql` is a literal with one parameter, `key`, or with none where that is NULL.

// Calls `take` for each row of the result; a status that is not TAPML_OK ends it. The row is ended
// by `row_each` alone.
tapml_status row_each(struct store *store,
                      const char *sql,
                      const char *key,
                      tapml_status (*take)(void *user, struct row *row),
                      void *user) STATUS_USED;

// The number in the last row of the result, 0 where there is none.
tapml_status
row_count(struct store *store, const char *sql, const char *key, int64_t *out_count) STATUS_USED;

// Executes what returns no rows.
tapml_status row_forget(struct store *store, const char *sql, const char *key) STATUS_USED;
