// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/store_open.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/file.h"
#include "base/text.h"
#include "store/migrate.h"
#include "store/pages.h"
#include "store/row.h"
#include "store/schema.h"
#include "store/store.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

static tapml_status read_number(struct store *store, const char *sql, int64_t *out_number)
{
    struct row row;
    int has = 0;
    TAPML_TRY(row_begin(store, sql, "opening it", &row));
    TAPML_TRY(row_next(&row, &has));
    *out_number = has ? row_i64(&row, 0) : 0;
    if (has) {
        row_end(&row);
    }
    return TAPML_OK;
}

static tapml_status make_tables(struct store *store, int page_bytes)
{
    char size[48], header[96];
    (void)snprintf(size, sizeof(size), "PRAGMA page_size = %d;", page_bytes);
    (void)snprintf(header, sizeof(header), "PRAGMA application_id = %d; PRAGMA user_version = %d;",
                   SCHEMA_APPLICATION_ID, STORE_VERSION);
    TAPML_TRY(store_execute(store, size, "making its tables"));
    TAPML_TRY(pages_add_sums(store_connection(store)));
    TAPML_TRY(store_execute(store, "BEGIN IMMEDIATE", "making its tables"));
    TAPML_TRY(store_execute(store, header, "making its tables"));
    const int code = schema_make(store_connection(store), STORE_VERSION);
    if (code != SQLITE_OK) {
        return store_fail(store, code, "making its tables");
    }
    return store_execute(store, "COMMIT", "making its tables");
}

static tapml_status check_tables(struct store *store)
{
    int is_same = 0;
    const int code = schema_compare(store_connection(store), STORE_VERSION, &is_same);
    if (code != SQLITE_OK) {
        return store_fail(store, code, "opening it");
    }
    return is_same ? TAPML_OK
                   : status_fail(TAPML_INVALID,
                                 "store '%s' has other tables, indices, views or triggers than a "
                                 "store has",
                                 store_path(store));
}

enum access { ACCESS_READ, ACCESS_WRITE, ACCESS_CREATE };

struct opening {
    enum access access;
    int page_bytes;                              // Of a store that is made; 0: none is.
    const struct pages_replacement *replacement; // NULL: none.
};

static tapml_status check_header(struct store *store, const struct opening *opening)
{
    const int page_bytes = opening->page_bytes;
    int64_t id = 0;
    int64_t version = 0;
    int64_t objects = 0;
    TAPML_TRY(read_number(store, "PRAGMA application_id", &id));
    TAPML_TRY(read_number(store, "PRAGMA user_version", &version));
    TAPML_TRY(read_number(store, "SELECT count(*) FROM sqlite_schema", &objects));
    if (page_bytes > 0 && id == 0 && objects == 0) {
        return make_tables(store, page_bytes);
    }
    if (id != SCHEMA_APPLICATION_ID) {
        return status_fail(TAPML_INVALID, "'%s' is no store of a run", store_path(store));
    }
    if (version < MIGRATE_VERSION_MIN || version > STORE_VERSION) {
        return status_fail(TAPML_INVALID, "store '%s' has version %lld, this host knows %d to %d",
                           store_path(store), (long long)version, MIGRATE_VERSION_MIN,
                           STORE_VERSION);
    }
    if (!store_has_sums(store)) { // Every store was made with them.
        return store_fail_damaged(store, "opening it");
    }
    if (version < STORE_VERSION) {
        const int is_kept = opening->access != ACCESS_READ;
        TAPML_TRY(migrate_run(store, version, is_kept));
        return is_kept ? check_tables(store) : TAPML_OK;
    }
    return check_tables(store);
}

// "file:" with what a URI keeps for itself written as %XX. A file without a log beside it is not
// being written: read as one that never changes, it gets no log either, which a reader alone could
// not take away again. Where there is a log, what is shared with a writer is read and not made.
static tapml_status print_uri(const char *path, struct text *out)
{
    text_format(out, "%s-wal", path);
    const int has_log = text_status(out) == TAPML_OK && file_exists(out->data);
    text_clear(out);
    text_append(out, "file:");
    for (; *path; path++) {
        text_format(out, strchr("%?#", *path) ? "%%%02X" : "%c", (unsigned char)*path);
    }
    text_append(out, has_log ? "?readonly_shm=1" : "?immutable=1");
    return text_status(out);
}

static tapml_status
connect_to_read(const char *path, const struct opening *opening, struct store **out_store)
{
    struct text uri;
    text_init(&uri);
    tapml_status status = print_uri(path, &uri);
    if (status == TAPML_OK) {
        status = store_connect(path,
                               &(struct store_connect_options){
                                   .flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI |
                                            SQLITE_OPEN_NOMUTEX, // One thread at a time.
                                   .uri = uri.data,
                                   .replacement = opening->replacement,
                               },
                               out_store);
    }
    text_release(&uri);
    return status;
}

static tapml_status
connect_to_write(const char *path, const struct opening *opening, struct store **out_store)
{
    const int create = opening->access == ACCESS_CREATE ? SQLITE_OPEN_CREATE : 0;
    ASSERT(!opening->replacement); // Replaced pages are read only.
    return store_connect(
        path, &(struct store_connect_options){.flags = SQLITE_OPEN_READWRITE | create}, out_store);
}

// A replaced row makes SQLite note each page before the statement, which it would write to a file
// of its own. A transaction of the writer (WRITER_CHUNK_BYTES in carve/writer.h) fits into the
// cache, so that no page of it is written before it is whole.
static const char WRITING[] = "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
                              "PRAGMA temp_store = MEMORY; PRAGMA cache_size = -32768;";

static tapml_status prepare_tables(struct store *store, const struct opening *opening)
{
    TAPML_TRY(check_header(store, opening));
    return opening->access == ACCESS_READ ? TAPML_OK : store_execute(store, WRITING, "opening it");
}

// Whether a connection has failed for what stands beside the store: gone, or not begun yet.
static int is_passing(struct store *store)
{
    const int code = sqlite3_errcode(store_connection(store)) & 0xff;
    return code == SQLITE_CANTOPEN || code == SQLITE_READONLY;
}

// Opens it once; `*out_is_passing` is whether it failed for what may be otherwise the next time.
static tapml_status try_opening(const char *path,
                                const struct opening *opening,
                                struct store **out_store,
                                int *out_is_passing)
{
    struct store *store = NULL;
    *out_is_passing = 0;
    TAPML_TRY(opening->access == ACCESS_READ ? connect_to_read(path, opening, &store)
                                             : connect_to_write(path, opening, &store));
    const tapml_status status = prepare_tables(store, opening);
    if (status != TAPML_OK) {
        *out_is_passing = is_passing(store);
        store_close(store);
        return status;
    }
    *out_store = store;
    return TAPML_OK;
}

// The last process that ends to work with a store removes its log and what is shared for it; the
// first one that begins makes both, and reads the log into it. Who reads does neither, and comes
// again: after pauses that double, two seconds in all.
enum { READING_TRIES = 12 };

static tapml_status
open_as(const char *path, const struct opening *opening, struct store **out_store)
{
    ASSERT((opening->access == ACCESS_CREATE) == (opening->page_bytes > 0));
    if (opening->access != ACCESS_CREATE && !file_exists(path)) {
        return status_fail(TAPML_NOT_FOUND, "there is no store '%s'", path);
    }
    if (file_is_link(path)) {
        return status_fail(TAPML_INVALID,
                           "'%s' is a link, and stores are opened by their own names", path);
    }
    int is_passing = 0;
    tapml_status status = try_opening(path, opening, out_store, &is_passing);
    for (int i = 0; is_passing && opening->access == ACCESS_READ && i < READING_TRIES - 1; i++) {
        (void)poll(NULL, 0, 1 << i);
        status = try_opening(path, opening, out_store, &is_passing);
    }
    return status;
}

tapml_status store_open(const char *path, int create, struct store **out_store)
{
    return create ? store_open_sized(path, STORE_OPEN_PAGE_BYTES, out_store)
                  : open_as(path, &(struct opening){.access = ACCESS_WRITE}, out_store);
}

tapml_status store_open_sized(const char *path, int page_bytes, struct store **out_store)
{
    return open_as(path, &(struct opening){.access = ACCESS_CREATE, .page_bytes = page_bytes},
                   out_store);
}

tapml_status store_open_to_read(const char *path, struct store **out_store)
{
    char *inside = file_is_folder(path) ? file_join(path, "run.tapmlrun") : NULL;
    const int is_run = inside != NULL && file_exists(inside);
    const tapml_status status =
        open_as(is_run ? inside : path, &(struct opening){.access = ACCESS_READ}, out_store);

    alloc_free(inside);
    return status;
}

tapml_status store_open_damaged(const char *path,
                                const struct pages_replacement *replacement,
                                struct store **out_store)
{
    return open_as(path, &(struct opening){.access = ACCESS_READ, .replacement = replacement},
                   out_store);
}
