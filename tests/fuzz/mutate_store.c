// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Stores and bundles: SQLite itself opens the bytes in memory and changes rows, so that tables,
// indices and pages stay whole. Some inputs get wrong bytes in a page instead; the target puts the
// checksums right.
#include "mutate.h"

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

enum {
    HEADER_BYTES = 100,
    WRITE_VERSION_AT = 18, // 2: with a log, which a database in memory cannot have.
    READ_VERSION_AT = 19,
    CHANGES_MAX = 4,
    TABLES_MAX = 64,
    COLUMNS_MAX = 32,
    NAME_BYTES = 64,
    VALUE_BYTES = 8192,
    PAGE_BYTES = 4096
};

struct stage {
    struct mutation mutation;
    sqlite3 *connection;
    char tables[TABLES_MAX][NAME_BYTES];
    size_t table_count;
};

// The first column of each row of a query, as names.
static size_t list(sqlite3 *connection, const char *sql, char (*out_names)[NAME_BYTES], size_t most)
{
    sqlite3_stmt *statement = NULL;
    size_t count = 0;
    if (sqlite3_prepare_v2(connection, sql, -1, &statement, NULL) != SQLITE_OK) {
        return 0;
    }
    while (count < most && sqlite3_step(statement) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(statement, 0);
        if (name && strlen(name) < NAME_BYTES && !strchr(name, '"')) {
            (void)snprintf(out_names[count++], NAME_BYTES, "%s", name);
        }
    }
    (void)sqlite3_finalize(statement);
    return count;
}

static int open_stage(struct stage *stage, const uint8_t *data, size_t size)
{
    unsigned char *copy = sqlite3_malloc64(size);
    if (!copy || sqlite3_open(":memory:", &stage->connection) != SQLITE_OK) {
        sqlite3_free(copy);
        return 0;
    }
    memcpy(copy, data, size);
    copy[WRITE_VERSION_AT] = copy[READ_VERSION_AT] = 1;
    if (sqlite3_deserialize(
            stage->connection, "main", copy, (sqlite3_int64)size, (sqlite3_int64)size,
            SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE) != SQLITE_OK) {
        return 0;
    }
    (void)sqlite3_exec(stage->connection,
                       "PRAGMA foreign_keys = 0; PRAGMA ignore_check_constraints = 1;"
                       "PRAGMA synchronous = 0; PRAGMA journal_mode = off",
                       NULL, NULL, NULL);
    stage->table_count =
        list(stage->connection,
             "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'",
             stage->tables, TABLES_MAX);
    return stage->table_count > 0;
}

// Another value in place of `old`, which is of this row or of another one.
static void bind(struct mutation *mutation, sqlite3_stmt *to, int at, sqlite3_value *old)
{
    static uint8_t value[VALUE_BYTES];
    const int size = sqlite3_value_bytes(old);
    const size_t length = size < VALUE_BYTES / 2 ? (size_t)size : VALUE_BYTES / 2;
    const int is_text = sqlite3_value_type(old) == SQLITE_TEXT;
    const uint64_t number = mutation_number(mutation);
    size_t changed = length;
    double real = 0;
    switch (mutation_below(mutation, 10)) {
    case 0:
        (void)sqlite3_bind_null(to, at);
        return;
    case 1:
    case 2:
        (void)sqlite3_bind_int64(to, at, (sqlite3_int64)number);
        return;
    case 3:
        memcpy(&real, &number, sizeof(real));
        (void)sqlite3_bind_double(to, at, real);
        return;
    case 4:
        (void)sqlite3_bind_zeroblob(to, at, (int)mutation_below(mutation, PAGE_BYTES));
        return;
    case 5:
        (void)sqlite3_bind_value(to, at, old);
        return;
    default:
        if (length > 0) {
            memcpy(value, sqlite3_value_blob(old), length);
        }
        changed = is_text ? mutation_of_text(mutation, value, length, VALUE_BYTES)
                          : LLVMFuzzerMutate(value, length, VALUE_BYTES);
        if (is_text) {
            (void)sqlite3_bind_text(to, at, (const char *)value, (int)changed, SQLITE_TRANSIENT);
        } else {
            (void)sqlite3_bind_blob(to, at, value, (int)changed, SQLITE_TRANSIENT);
        }
        return;
    }
}

static sqlite3_stmt *prepare(struct stage *stage, char *sql)
{
    sqlite3_stmt *statement = NULL;
    const int code = sqlite3_prepare_v2(stage->connection, sql ? sql : "", -1, &statement, NULL);
    sqlite3_free(sql);
    return code == SQLITE_OK ? statement : NULL; // NULL does nothing, where it is used.
}

static size_t count_rows(struct stage *stage, const char *table)
{
    sqlite3_stmt *statement = prepare(stage, sqlite3_mprintf("SELECT count(*) FROM \"%w\"", table));
    const size_t count =
        sqlite3_step(statement) == SQLITE_ROW ? (size_t)sqlite3_column_int64(statement, 0) : 0;
    (void)sqlite3_finalize(statement);
    return count;
}

// A value of a row, or of all of them, becomes another one.
static void
change_value(struct stage *stage, const char *table, char (*columns)[NAME_BYTES], size_t count)
{
    const size_t rows = count_rows(stage, table);
    const char *column = columns[mutation_below(&stage->mutation, count)];
    sqlite3_stmt *from =
        prepare(stage, sqlite3_mprintf("SELECT \"%w\" FROM \"%w\" LIMIT 1 OFFSET %lld", column,
                                       table, (long long)mutation_below(&stage->mutation, rows)));
    sqlite3_stmt *to =
        prepare(stage, sqlite3_mprintf("UPDATE OR REPLACE \"%w\" SET \"%w\" = ?1 WHERE %d OR \"%w\""
                                       " = (SELECT \"%w\" FROM \"%w\" LIMIT 1 OFFSET %lld)",
                                       table, column, mutation_below(&stage->mutation, 8) == 0,
                                       columns[0], columns[0], table,
                                       (long long)mutation_below(&stage->mutation, rows)));
    if (to && sqlite3_step(from) == SQLITE_ROW) {
        bind(&stage->mutation, to, 1, sqlite3_column_value(from, 0));
        (void)sqlite3_step(to); // What a table does not take, it refuses.
    }
    (void)sqlite3_finalize(from);
    (void)sqlite3_finalize(to);
}

static void remove_row(struct stage *stage, const char *table, char (*columns)[NAME_BYTES])
{
    const size_t row = mutation_below(&stage->mutation, count_rows(stage, table));
    sqlite3_stmt *statement =
        prepare(stage, sqlite3_mprintf("DELETE FROM \"%w\" WHERE \"%w\" = (SELECT \"%w\" FROM "
                                       "\"%w\" LIMIT 1 OFFSET %lld)",
                                       table, columns[0], columns[0], table, (long long)row));
    (void)sqlite3_step(statement);
    (void)sqlite3_finalize(statement);
}

static void change(struct stage *stage)
{
    char columns[COLUMNS_MAX][NAME_BYTES];
    const char *table = stage->tables[mutation_below(&stage->mutation, stage->table_count)];
    char *sql = sqlite3_mprintf("SELECT name FROM pragma_table_info('%q')", table);
    const size_t count = sql ? list(stage->connection, sql, columns, COLUMNS_MAX) : 0;
    sqlite3_free(sql);
    if (count > 0 && mutation_below(&stage->mutation, 10) == 0) {
        remove_row(stage, table, columns);
    } else if (count > 0) {
        change_value(stage, table, columns, count);
    }
}

static size_t take_bytes(struct stage *stage, uint8_t *data, size_t size, size_t max_size)
{
    sqlite3_int64 fresh = 0;
    unsigned char *bytes = sqlite3_serialize(stage->connection, "main", &fresh, 0);
    if (bytes && (size_t)fresh <= max_size && fresh >= HEADER_BYTES) {
        const uint8_t versions[2] = {data[WRITE_VERSION_AT], data[READ_VERSION_AT]};
        memcpy(data, bytes, (size_t)fresh);
        data[WRITE_VERSION_AT] = versions[0];
        data[READ_VERSION_AT] = versions[1];
        size = (size_t)fresh;
    }
    sqlite3_free(bytes);
    return size;
}

// Bytes of one page, whose number and size stay.
static void change_page(struct mutation *mutation, uint8_t *data, size_t size)
{
    const size_t at = mutation_below(mutation, size);
    const size_t room = size - at < PAGE_BYTES ? size - at : PAGE_BYTES;
    uint8_t page[PAGE_BYTES];
    memcpy(page, data + at, room);
    const size_t changed = LLVMFuzzerMutate(page, 1 + mutation_below(mutation, room), room);
    memcpy(data + at, page, changed);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
    static struct stage stage; // Too large for a stack; one thread mutates.
    stage = (struct stage){.mutation = mutation_begin(seed)};
    if (size < HEADER_BYTES) {
        return LLVMFuzzerMutate(data, size, max_size);
    }
    if (mutation_below(&stage.mutation, 4) == 0) {
        change_page(&stage.mutation, data, size);
        return size;
    }
    if (open_stage(&stage, data, size)) {
        for (size_t i = 1 + mutation_below(&stage.mutation, CHANGES_MAX); i > 0; i--) {
            change(&stage);
        }
        size = take_bytes(&stage, data, size, max_size);
    } else {
        change_page(&stage.mutation, data, size);
    }
    (void)sqlite3_close(stage.connection);
    return size;
}
