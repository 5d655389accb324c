// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/store.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/file.h"
#include "base/mapping.h"
#include "base/stages.h"
#include "base/table.h"
#include "store/pages.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>
#include <zstd.h>

enum { BUSY_TIMEOUT_MS = 10000 };

struct store {
    char *path;
    struct pages *pages;
    sqlite3 *connection;
    struct table statement_at; // By their text.
    sqlite3_stmt **statements;
    size_t statement_count, statement_capacity;
    struct store_memory memory;
};

// Whether there was no room: SQLite has a code of its own for a full disk, but reports a limit on
// files as any failure.
static int is_full(const struct store *store, int code, char out_why[FILE_WHY_TEXT])
{
    const int kind = code & 0xff;
    const int error = kind == SQLITE_FULL    ? ENOSPC
                      : kind == SQLITE_IOERR ? pages_write_error(store->pages)
                                             : 0;
    return file_is_full(error, store->path, out_why);
}

tapml_status store_fail_damaged(const struct store *store, const char *doing)
{
    char page[48] = "";
    if (pages_damaged(store->pages) != 0) {
        (void)snprintf(page, sizeof(page), " in page %lld", (long long)pages_damaged(store->pages));
    }
    return status_fail(
        TAPML_INVALID,
        "store '%s' is damaged%s, found while %s; 'tapml-host --config' goes on with "
        "what is whole of it, or put back a copy",
        store->path, page, doing);
}

// Whether the user may not do it: no lack of the environment, as of any other file.
static int is_forbidden(const struct store *store, int code)
{
    return code == SQLITE_READONLY || code == SQLITE_READONLY_DIRECTORY ||
           ((code & 0xff) == SQLITE_CANTOPEN && access(store->path, R_OK) != 0 && errno == EACCES);
}

tapml_status store_fail(struct store *store, int code, const char *doing)
{
    const char *path = store->path;
    char why[FILE_WHY_TEXT];
    if (is_full(store, code, why)) {
        return status_fail(TAPML_UNAVAILABLE,
                           "store '%s': %s while %s; what was committed is kept, make room and "
                           "start again",
                           path, why, doing);
    }
    if (pages_damaged(store->pages) != 0) {
        return store_fail_damaged(store, doing);
    }
    switch (code & 0xff) { // The low byte is the kind.
    case SQLITE_NOMEM:
        return status_no_memory();
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return store_fail_damaged(store, doing);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL: // Others were always faster.
        return status_fail(TAPML_UNAVAILABLE, "store '%s' is in use by another process while %s",
                           path, doing);
    case SQLITE_IOERR:
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
        return status_fail(is_forbidden(store, code) ? TAPML_INVALID : TAPML_UNAVAILABLE,
                           "store '%s': %s while %s", path, sqlite3_errstr(code), doing);
    default:
        return status_fail(TAPML_INVALID, "store '%s': %s while %s", path,
                           sqlite3_errmsg(store->connection), doing);
    }
}

tapml_status store_execute(struct store *store, const char *sql, const char *doing)
{
    const int code = sqlite3_exec(store->connection, sql, NULL, NULL, NULL);
    return code == SQLITE_OK ? TAPML_OK : store_fail(store, code, doing);
}

static tapml_status connect_file(struct store *store, const struct store_connect_options *options)
{
    if (*store->path == '\0') { // SQLite would take a file that nobody finds again.
        return status_fail(TAPML_INVALID, "a store's path is empty");
    }
    TAPML_TRY(file_expect(store->path));
    TAPML_TRY(pages_create(&store->pages));
    if (options->replacement) {
        pages_replace(store->pages, options->replacement);
    }
    const char *name = options->uri ? options->uri : store->path;
    const int code =
        sqlite3_open_v2(name, &store->connection, options->flags, pages_vfs(store->pages));
    if (code != SQLITE_OK) {
        return store_fail(store, code, "opening it");
    }
    (void)sqlite3_busy_timeout(store->connection, BUSY_TIMEOUT_MS); // Always SQLITE_OK.
    (void)sqlite3_db_config(store->connection, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    (void)sqlite3_db_config(store->connection, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    return store_execute(store, "PRAGMA foreign_keys = ON; PRAGMA cell_size_check = ON;",
                         "opening it");
}

tapml_status store_connect(const char *path,
                           const struct store_connect_options *options,
                           struct store **out_store)
{
    struct store *store = alloc_new(sizeof(*store));
    if (!store) {
        return status_no_memory();
    }
    table_init(&store->statement_at);
    store->path = alloc_text(path);
    const tapml_status status = store->path ? connect_file(store, options) : status_no_memory();
    if (status != TAPML_OK) {
        store_close(store);
        return status;
    }
    *out_store = store;
    return TAPML_OK;
}

void store_close(struct store *store)
{
    if (!store) {
        return;
    }
    for (size_t i = 0; i < store->statement_count; i++) {
        (void)sqlite3_finalize(store->statements[i]); // Repeats the code of the last step.
    }
    (void)sqlite3_close_v2(store->connection); // Cannot fail.
    pages_destroy(store->pages);
    table_release(&store->statement_at);
    alloc_free(store->statements);
    alloc_free(store->memory.metadata);
    (void)ZSTD_freeCCtx(store->memory.compressor); // Cannot fail. NULL is allowed.
    alloc_free(store->path);
    alloc_free(store);
}

const char *store_path(const struct store *store)
{
    return store->path;
}

int store_is_in_transaction(const struct store *store)
{
    return !sqlite3_get_autocommit(store->connection);
}

tapml_status store_begin(struct store *store)
{
    ASSERT(!store_is_in_transaction(store)); // Transactions do not nest.
    return store_execute(store, "BEGIN IMMEDIATE", "beginning a step");
}

tapml_status store_commit(struct store *store)
{
    const tapml_status status = mapping_check(); // Computed from a file that was cut: not kept.
    const enum stages_kind before = stages_enter(STAGES_RECORD);
    const tapml_status written =
        status == TAPML_OK ? store_execute(store, "COMMIT", "writing a step") : status;
    stages_return(before, 0);
    return written;
}

tapml_status store_begin_to_read(struct store *store)
{
    ASSERT(!store_is_in_transaction(store));
    return store_execute(store, "BEGIN DEFERRED", "beginning to read");
}

void store_rollback(struct store *store)
{
    if (store_is_in_transaction(store)) {
        store->memory.run[0] = '\0';
        store->memory.has_prompt = 0;
        (void)sqlite3_exec(store->connection, "ROLLBACK", NULL, NULL, NULL); // Or SQLite has.
    }
}

sqlite3 *store_connection(struct store *store)
{
    return store->connection;
}

int store_has_sums(const struct store *store)
{
    return pages_have_sums(store->pages);
}

struct store_memory *store_memory(struct store *store)
{
    return &store->memory;
}

static tapml_status prepare(struct store *store, const char *sql, sqlite3_stmt **out_statement)
{
    void *grown = store->statements;
    if (!alloc_grow(&grown, &store->statement_capacity, store->statement_count,
                    sizeof(*store->statements))) {
        return status_no_memory();
    }
    store->statements = grown;
    TAPML_TRY(table_set(&store->statement_at, sql, store->statement_count));
    sqlite3_stmt *statement = NULL;
    const int code =
        sqlite3_prepare_v3(store->connection, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL);
    store->statements[store->statement_count++] = statement; // NULL is finalized too.
    if (code != SQLITE_OK) {
        return store_fail(store, code, "preparing a statement");
    }
    *out_statement = statement;
    return TAPML_OK;
}

tapml_status store_statement(struct store *store, const char *sql, sqlite3_stmt **out_statement)
{
    size_t at = 0;
    if (!table_find(&store->statement_at, sql, &at) || !store->statements[at]) {
        return prepare(store, sql, out_statement);
    }
    (void)sqlite3_reset(store->statements[at]); // Repeats the code of the last step.
    (void)sqlite3_clear_bindings(store->statements[at]);
    *out_statement = store->statements[at];
    return TAPML_OK;
}
