// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/row.h"

#include "base/arena.h"
#include "base/assert.h"
#include "store/store.h"

#include <math.h>
#include <string.h>

tapml_status row_begin(struct store *store, const char *sql, const char *doing, struct row *out_row)
{
    sqlite3_stmt *statement = NULL;
    TAPML_TRY(store_statement(store, sql, &statement));
    *out_row = (struct row){.store = store, .statement = statement, .doing = doing, .at = 1};
    return TAPML_OK;
}

static void note(struct row *row, int code)
{
    row->at++;
    if (row->code == SQLITE_OK) {
        row->code = code;
    }
}

void row_put_null(struct row *row)
{
    note(row, sqlite3_bind_null(row->statement, row->at));
}

void row_put_text(struct row *row, const char *text)
{
    note(row, sqlite3_bind_text(row->statement, row->at, text, -1, SQLITE_STATIC));
}

void row_put_i64(struct row *row, int64_t value)
{
    note(row, sqlite3_bind_int64(row->statement, row->at, value));
}

void row_put_f64(struct row *row, double value)
{
    note(row, sqlite3_bind_double(row->statement, row->at, value));
}

void row_put_bytes(struct row *row, const void *data, uint64_t bytes)
{
    // A null pointer would bind NULL, and no bytes are something else.
    const void *start = data ? data : "";
    note(row, sqlite3_bind_blob64(row->statement, row->at, start, bytes, SQLITE_STATIC));
}

void row_put_hash(struct row *row, struct hash hash)
{
    unsigned char bytes[ROW_HASH_BYTES];
    row_print_hash(hash, bytes);
    note(row,
         sqlite3_bind_blob(row->statement, row->at, bytes, (int)sizeof(bytes), SQLITE_TRANSIENT));
}

tapml_status row_next(struct row *row, int *out_has)
{
    int code = row->code;
    if (code == SQLITE_OK) {
        ASSERT(row->at == 1 + sqlite3_bind_parameter_count(row->statement)); // Each value is put.
        code = sqlite3_step(row->statement);
    }
    if (code == SQLITE_ROW) {
        *out_has = 1;
        return TAPML_OK;
    }
    tapml_status status = TAPML_OK;
    if (code != SQLITE_DONE) {
        status = store_fail(row->store, code, row->doing);
    } else {
        *out_has = 0;
    }
    row_end(row);
    return status;
}

tapml_status row_run(struct row *row)
{
    int has = 0;
    TAPML_TRY(row_next(row, &has));
    if (has) {
        row_end(row);
    }
    return TAPML_OK;
}

int row_is_null(struct row *row, int column)
{
    return sqlite3_column_type(row->statement, column) == SQLITE_NULL;
}

// Columns are those of the statement's text: another one is a mistake of ours.
static void check_column(const struct row *row, int column)
{
    ASSERT(column >= 0 && column < sqlite3_data_count(row->statement));
}

const char *row_text(struct row *row, int column)
{
    check_column(row, column);
    const unsigned char *text = sqlite3_column_text(row->statement, column);
    return text ? (const char *)text : "";
}

const char *row_keep(struct row *row, int column, const char *likely, struct arena *arena)
{
    const char *text = row_text(row, column);
    return likely && strcmp(likely, text) == 0 ? likely : arena_text(arena, text);
}

int64_t row_i64(struct row *row, int column)
{
    check_column(row, column);
    return sqlite3_column_int64(row->statement, column);
}

double row_f64(struct row *row, int column)
{
    check_column(row, column);
    return row_is_null(row, column) ? NAN : sqlite3_column_double(row->statement, column);
}

const void *row_bytes(struct row *row, int column, uint64_t *out_bytes)
{
    check_column(row, column);
    const void *data = sqlite3_column_blob(row->statement, column);
    *out_bytes = (uint64_t)sqlite3_column_bytes(row->statement, column);
    return data;
}

int row_hash(struct row *row, int column, struct hash *out_hash)
{
    uint64_t bytes = 0;
    const unsigned char *data = row_bytes(row, column, &bytes);
    if (!data || bytes != ROW_HASH_BYTES) {
        return 0;
    }
    struct hash hash = {0, 0};
    for (int i = 0; i < 8; i++) {
        hash.high = hash.high << 8 | data[i];
        hash.low = hash.low << 8 | data[8 + i];
    }
    *out_hash = hash;
    return 1;
}

void row_put_column(struct row *row, struct row *from, int column)
{
    note(row, sqlite3_bind_value(row->statement, row->at,
                                 sqlite3_column_value(from->statement, column)));
}

int row_columns(struct row *row)
{
    return sqlite3_column_count(row->statement);
}

enum row_type row_type(struct row *row, int column)
{
    switch (sqlite3_column_type(row->statement, column)) {
    case SQLITE_INTEGER:
        return ROW_INTEGER;
    case SQLITE_FLOAT:
        return ROW_REAL;
    case SQLITE_TEXT:
        return ROW_TEXT;
    case SQLITE_BLOB:
        return ROW_BYTES;
    default:
        return ROW_NULL;
    }
}

void row_print_hash(struct hash hash, unsigned char out_bytes[ROW_HASH_BYTES])
{
    for (int i = 0; i < 8; i++) {
        out_bytes[i] = (unsigned char)(hash.high >> (56 - 8 * i));
        out_bytes[8 + i] = (unsigned char)(hash.low >> (56 - 8 * i));
    }
}

void row_end(struct row *row)
{
    (void)sqlite3_reset(row->statement); // Repeats the code of the step, which was handled.
    (void)sqlite3_clear_bindings(row->statement);
}

tapml_status row_each(struct store *store,
                      const char *sql,
                      const char *key,
                      tapml_status (*take)(void *user, struct row *row),
                      void *user)
{
    struct row row;
    int has = 0;
    TAPML_TRY(row_begin(store, sql, "reading rows", &row));
    if (key) {
        row_put_text(&row, key);
    }
    TAPML_TRY(row_next(&row, &has));
    while (has) {
        const tapml_status status = take(user, &row);
        if (status != TAPML_OK) {
            row_end(&row);
            return status;
        }
        TAPML_TRY(row_next(&row, &has));
    }
    return TAPML_OK;
}

static tapml_status take_number(void *user, struct row *row)
{
    *(int64_t *)user = row_i64(row, 0);
    return TAPML_OK;
}

tapml_status row_count(struct store *store, const char *sql, const char *key, int64_t *out_count)
{
    int64_t count = 0;
    TAPML_TRY(row_each(store, sql, key, take_number, &count));
    *out_count = count;
    return TAPML_OK;
}

tapml_status row_forget(struct store *store, const char *sql, const char *key)
{
    struct row row;
    TAPML_TRY(row_begin(store, sql, "forgetting rows", &row));
    if (key) {
        row_put_text(&row, key);
    }
    return row_run(&row);
}
