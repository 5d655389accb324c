// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/store.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/mapping.h"
#include "base/table.h"
#include "base/text.h"
#include "base/utf8.h"
#include "store/argument.h"
#include "store/case_key.h"
#include "store/content.h"
#include "store/list.h"
#include "store/migrate.h"
#include "store/pages.h"
#include "store/row.h"
#include "store/schema.h"
#include "tensor/dtype.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { BUSY_TIMEOUT_MS = 10000, ARGUMENTS_MAX = 256, HOST_NAME_TEXT = 256 };

struct store {
    char *path;
    struct pages *pages;
    sqlite3 *connection;
    struct table statement_at; // By their text.
    sqlite3_stmt **statements;
    size_t statement_count, statement_capacity;
    char *fact;          // The last answer of `store_fact`.
    char run[HASH_TEXT]; // The row of `run` that this connection has written, or "".
    struct hash touched; // The prompt that is known to have a row,
    int has_touched;     // if there is one.
};

// Whether there was no room: SQLite tells of a full disk by a code of its own, of a limit on files
// by no more than a failure.
static int is_full(const struct store *store, int code, char out_why[FILE_WHY_TEXT])
{
    const int kind = code & 0xff;
    const int error = kind == SQLITE_FULL    ? ENOSPC
                      : kind == SQLITE_IOERR ? pages_write_error(store->pages)
                                             : 0;
    return file_is_full(error, store->path, out_why);
}

static tapml_status fail_damaged(const struct store *store, const char *doing)
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
        return fail_damaged(store, doing);
    }
    switch (code & 0xff) { // The low byte is the kind.
    case SQLITE_NOMEM:
        return status_no_memory();
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return fail_damaged(store, doing);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return status_fail(TAPML_UNAVAILABLE, "store '%s' is in use by another process while %s",
                           path, doing);
    case SQLITE_IOERR:
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
        return status_fail(TAPML_UNAVAILABLE, "store '%s': %s while %s", path, sqlite3_errstr(code),
                           doing);
    default:
        return status_fail(TAPML_INVALID, "store '%s': %s while %s", path,
                           sqlite3_errmsg(store->connection), doing);
    }
}

static tapml_status run_sql(struct store *store, const char *sql, const char *doing)
{
    const int code = sqlite3_exec(store->connection, sql, NULL, NULL, NULL);
    return code == SQLITE_OK ? TAPML_OK : store_fail(store, code, doing);
}

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
    TAPML_TRY(run_sql(store, size, "making its tables"));
    TAPML_TRY(pages_add_sums(store->connection));
    TAPML_TRY(run_sql(store, "BEGIN IMMEDIATE", "making its tables"));
    TAPML_TRY(run_sql(store, header, "making its tables"));
    const int code = schema_make(store->connection);
    if (code != SQLITE_OK) {
        return store_fail(store, code, "making its tables");
    }
    return run_sql(store, "COMMIT", "making its tables");
}

static tapml_status check_tables(struct store *store)
{
    int is_same = 0;
    const int code = schema_compare(store->connection, NULL, &is_same);
    if (code != SQLITE_OK) {
        return store_fail(store, code, "opening it");
    }
    return is_same ? TAPML_OK
                   : status_fail(TAPML_INVALID,
                                 "store '%s' has other tables, indices, views or triggers than a "
                                 "store has",
                                 store->path);
}

enum access { ACCESS_READ, ACCESS_WRITE, ACCESS_CREATE };

struct opening {
    enum access access;
    int page_bytes;                // Of a store that is made; 0: none is.
    const struct pages_loan *loan; // NULL: none.
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
        return status_fail(TAPML_INVALID, "'%s' is no store of a run", store->path);
    }
    if (version < MIGRATE_VERSION_MIN || version > STORE_VERSION) {
        return status_fail(TAPML_INVALID, "store '%s' has version %lld, this host knows %d to %d",
                           store->path, (long long)version, MIGRATE_VERSION_MIN, STORE_VERSION);
    }
    if (!pages_have_sums(store->pages)) { // Every store was made with them.
        return fail_damaged(store, "opening it");
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

static int open_file(struct store *store, enum access access)
{
    if (access != ACCESS_READ) {
        const int flags =
            SQLITE_OPEN_READWRITE | (access == ACCESS_CREATE ? SQLITE_OPEN_CREATE : 0);
        return sqlite3_open_v2(store->path, &store->connection, flags, pages_vfs(store->pages));
    }
    struct text uri;
    text_init(&uri);
    const int code =
        print_uri(store->path, &uri) == TAPML_OK
            ? sqlite3_open_v2(uri.data, &store->connection, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI,
                              pages_vfs(store->pages))
            : SQLITE_NOMEM;
    text_release(&uri);
    return code;
}

static tapml_status open_connection(struct store *store, const struct opening *opening)
{
    TAPML_TRY(pages_create(&store->pages));
    if (opening->loan) {
        pages_lend(store->pages, opening->loan);
    }
    const int code = open_file(store, opening->access);
    if (code != SQLITE_OK) {
        return store_fail(store, code, "opening it");
    }
    (void)sqlite3_busy_timeout(store->connection, BUSY_TIMEOUT_MS); // Always SQLITE_OK.
    (void)sqlite3_db_config(store->connection, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    (void)sqlite3_db_config(store->connection, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    TAPML_TRY(
        run_sql(store, "PRAGMA foreign_keys = ON; PRAGMA cell_size_check = ON;", "opening it"));
    TAPML_TRY(check_header(store, opening));
    return opening->access == ACCESS_READ
               ? TAPML_OK
               : run_sql(store, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;",
                         "opening it");
}

static tapml_status
open_as(const char *path, const struct opening *opening, struct store **out_store)
{
    if (opening->access != ACCESS_CREATE && !file_exists(path)) {
        return status_fail(TAPML_NOT_FOUND, "there is no store '%s'", path);
    }
    if (file_is_link(path)) {
        return status_fail(TAPML_INVALID,
                           "'%s' is a link, and stores are opened by their own names", path);
    }
    struct store *store = alloc_new(sizeof(*store));
    if (!store) {
        return status_no_memory();
    }
    table_init(&store->statement_at);
    store->path = alloc_text(path);
    const tapml_status status = store->path ? open_connection(store, opening) : status_no_memory();
    if (status != TAPML_OK) {
        store_close(store);
        return status;
    }
    *out_store = store;
    return TAPML_OK;
}

tapml_status store_open(const char *path, int create, struct store **out_store)
{
    return create ? store_make(path, STORE_PAGE_BYTES, out_store)
                  : open_as(path, &(struct opening){.access = ACCESS_WRITE}, out_store);
}

tapml_status store_make(const char *path, int page_bytes, struct store **out_store)
{
    return open_as(path, &(struct opening){.access = ACCESS_CREATE, .page_bytes = page_bytes},
                   out_store);
}

tapml_status store_open_to_read(const char *path, struct store **out_store)
{
    return open_as(path, &(struct opening){.access = ACCESS_READ}, out_store);
}

tapml_status
store_open_spoilt(const char *path, const struct pages_loan *loan, struct store **out_store)
{
    return open_as(path, &(struct opening){.access = ACCESS_READ, .loan = loan}, out_store);
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
    alloc_free(store->fact);
    alloc_free(store->path);
    alloc_free(store);
}

const char *store_path(const struct store *store)
{
    return store->path;
}

tapml_status store_set_fact(struct store *store, const char *name, const char *value)
{
    struct row row;
    TAPML_TRY(row_begin(store,
                        "INSERT INTO metadata VALUES (?, ?)"
                        " ON CONFLICT (name) DO UPDATE SET value = excluded.value",
                        "writing a fact", &row));
    row_put_text(&row, name);
    row_put_text(&row, value);
    return row_run(&row);
}

const char *store_fact(struct store *store, const char *name)
{
    struct row row;
    int has = 0;
    if (row_begin(store, "SELECT value FROM metadata WHERE name = ?", "reading a fact", &row) !=
        TAPML_OK) {
        return NULL;
    }
    row_put_text(&row, name);
    if (row_next(&row, &has) != TAPML_OK || !has) {
        return NULL;
    }
    alloc_free(store->fact);
    store->fact = alloc_text(row_text(&row, 0));
    row_end(&row);
    if (store->fact) {
        utf8_make_plain(store->fact); // It is shown to people.
    }
    return store->fact;
}

tapml_status store_run(struct store *store, const char **out_id)
{
    char machine[HOST_NAME_TEXT] = "";
    struct row row;
    int has = 0;
    *out_id = store->run;
    if (store->run[0] != '\0') {
        return TAPML_OK;
    }
    (void)gethostname(machine, sizeof(machine) - 1); // Empty if there is none.
    TAPML_TRY(row_begin(store,
                        "INSERT INTO run VALUES (lower(hex(randomblob(16))), ?, ?, ?) RETURNING id",
                        "noting the run", &row));
    row_put_text(&row, TAPML_VERSION);
    row_put_text(&row, machine);
    row_put_i64(&row, clock_wall_s());
    TAPML_TRY(row_next(&row, &has));
    ASSERT(has); // The row that was inserted.
    (void)snprintf(store->run, sizeof(store->run), "%s", row_text(&row, 0));
    row_end(&row);
    return TAPML_OK;
}

tapml_status store_begin(struct store *store)
{
    return run_sql(store, "BEGIN IMMEDIATE", "beginning a step");
}

tapml_status store_commit(struct store *store)
{
    const tapml_status status = mapping_check(); // Computed from a file that was cut: not kept.
    return status == TAPML_OK ? run_sql(store, "COMMIT", "writing a step") : status;
}

tapml_status store_begin_to_read(struct store *store)
{
    return run_sql(store, "BEGIN DEFERRED", "beginning to read");
}

void store_rollback(struct store *store)
{
    if (!sqlite3_get_autocommit(store->connection)) {
        store->run[0] = '\0'; // Their rows may go.
        store->has_touched = 0;
        (void)sqlite3_exec(store->connection, "ROLLBACK", NULL, NULL, NULL); // Or SQLite has.
    }
}

static tapml_status find_weight(
    struct store *store, const char *name, uint32_t dtype, uint64_t bytes, int *out_is_known)
{
    struct row row;
    TAPML_TRY(row_begin(store, "SELECT dtype, byte_count FROM weight WHERE name = ?",
                        "looking up a weight", &row));
    row_put_text(&row, name);
    TAPML_TRY(row_next(&row, out_is_known));
    if (!*out_is_known) {
        return TAPML_OK;
    }
    const int is_same =
        dtype_find(row_text(&row, 0)) == dtype && (uint64_t)row_i64(&row, 1) == bytes;
    row_end(&row);
    return is_same ? TAPML_OK
                   : status_fail(TAPML_INVALID,
                                 "store '%s' knows weight '%s' with another type or size than %s "
                                 "with %llu bytes",
                                 store->path, name, dtype_name(dtype), (unsigned long long)bytes);
}

// Weights are keyed without a shape: views of one may have several.
static struct content flat_content(uint32_t dtype, uint64_t bytes, int64_t *out_count)
{
    *out_count = (int64_t)(bytes / dtype_bytes(dtype));
    return (struct content){.dtype = dtype, .rank = 1, .shape = out_count};
}

tapml_status store_add_weight(
    struct store *store, const char *name, uint32_t dtype, const void *data, uint64_t bytes)
{
    int is_known = 0;
    TAPML_TRY(find_weight(store, name, dtype, bytes, &is_known));
    if (is_known) {
        return TAPML_OK;
    }
    int64_t count = 0;
    struct hash key;
    const struct content content = flat_content(dtype, bytes, &count);
    TAPML_TRY(content_key(&content, data, &key));
    struct row row;
    TAPML_TRY(row_begin(store, "INSERT INTO weight VALUES (?, ?, ?, ?)", "writing a weight", &row));
    row_put_text(&row, name);
    row_put_text(&row, dtype_name(dtype));
    row_put_i64(&row, (int64_t)bytes);
    row_put_hash(&row, key);
    return row_run(&row);
}

tapml_status
store_inline_weight(struct store *store, const char *name, const void *data, uint64_t bytes)
{
    struct row row;
    int has = 0;
    TAPML_TRY(row_begin(store, "SELECT dtype, byte_count, key FROM weight WHERE name = ?",
                        "looking up a weight", &row));
    row_put_text(&row, name);
    TAPML_TRY(row_next(&row, &has));
    if (!has) {
        return status_fail(TAPML_NOT_FOUND, "store '%s' has no weight '%s'", store->path, name);
    }
    struct hash key = {0, 0};
    struct hash found = {0, 0};
    const uint32_t dtype = dtype_find(row_text(&row, 0));
    const int fits = dtype != 0 && (uint64_t)row_i64(&row, 1) == bytes && row_hash(&row, 2, &key);
    row_end(&row);
    int64_t count = 0;
    if (fits) {
        const struct content content = flat_content(dtype, bytes, &count);
        TAPML_TRY(content_key(&content, data, &found));
        if (hash_equal(key, found)) {
            return content_put(store, &content, data, &found);
        }
    }
    return status_fail(TAPML_INVALID, "the bytes of weight '%s' are not those of store '%s'", name,
                       store->path);
}

// A line for a prompt that has begun: cases and calls refer to it.
static tapml_status touch_prompt(struct store *store, struct hash prompt, const char *hash)
{
    const char *run = NULL;
    struct row row;
    if (store->has_touched && hash_equal(store->touched, prompt)) {
        return TAPML_OK;
    }
    TAPML_TRY(store_run(store, &run));
    TAPML_TRY(row_begin(store,
                        "INSERT INTO prompt (hash, run) VALUES (?, ?)"
                        " ON CONFLICT (hash) DO NOTHING",
                        "writing a prompt", &row));
    row_put_text(&row, hash);
    row_put_text(&row, run);
    TAPML_TRY(row_run(&row));
    store->touched = prompt;
    store->has_touched = 1;
    return TAPML_OK;
}

static tapml_status
insert_case(struct store *store, const struct carved_case *item, const char *hash)
{
    const char *run = NULL;
    struct row row;
    TAPML_TRY(store_run(store, &run));
    TAPML_TRY(row_begin(store,
                        "INSERT INTO \"case\" (key, instance, op, version, phase, shape_class,"
                        " prompt, step, part, tokens, run)"
                        " VALUES (x'', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                        "writing a case", &row));
    row_put_text(&row, item->instance);
    row_put_text(&row, item->op_name);
    row_put_i64(&row, item->op_version);
    row_put_text(&row, item->phase);
    row_put_text(&row, item->shape_class);
    row_put_text(&row, hash);
    row_put_i64(&row, item->step);
    row_put_i64(&row, item->part);
    row_put_i64(&row, item->tokens);
    row_put_text(&row, run);
    return row_run(&row);
}

static tapml_status
delete_old(struct store *store, const struct carved_case *item, const char *hash)
{
    struct row row;
    TAPML_TRY(row_begin(store,
                        "DELETE FROM \"case\""
                        " WHERE instance = ? AND prompt = ? AND step = ? AND part = ?",
                        "replacing a case", &row));
    row_put_text(&row, item->instance);
    row_put_text(&row, hash);
    row_put_i64(&row, item->step);
    row_put_i64(&row, item->part);
    return row_run(&row);
}

tapml_status store_add_case(struct store *store, const struct carved_case *item)
{
    char hash[HASH_TEXT];
    hash_text(item->prompt, hash);
    TAPML_TRY(touch_prompt(store, item->prompt, hash));
    TAPML_TRY(delete_old(store, item, hash));
    TAPML_TRY(insert_case(store, item, hash));
    const int64_t id = sqlite3_last_insert_rowid(store->connection);
    for (uint32_t i = 0; i < item->argument_count; i++) {
        const tapml_status status = argument_write(store, id, i, &item->arguments[i]);
        if (status != TAPML_OK) {
            return status_explain(status, "while writing a case of '%s'", item->instance);
        }
    }
    return case_key_write(store, id);
}

static tapml_status
write_statistic(struct store *store, int64_t call_id, const struct store_statistics *statistics)
{
    struct row row;
    TAPML_TRY(row_begin(store, "INSERT OR REPLACE INTO statistic VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                        "writing statistics", &row));
    row_put_i64(&row, call_id);
    row_put_text(&row, statistics->param);
    row_put_f64(&row, statistics->least);
    row_put_f64(&row, statistics->largest);
    row_put_f64(&row, statistics->mean_square);
    row_put_i64(&row, (int64_t)statistics->count);
    row_put_i64(&row, (int64_t)statistics->non_finite);
    row_put_i64(&row, statistics->non_finite_kinds);
    return row_run(&row);
}

static tapml_status
write_call(struct store *store, const struct store_call *call, const char *hash, int64_t *out_id)
{
    struct row row;
    int has = 0;
    TAPML_TRY(row_begin(store,
                        "INSERT INTO call (instance, prompt, step, part, phase, shape_class,"
                        " time_ns, kept) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
                        " ON CONFLICT (instance, prompt, step, part) DO UPDATE SET"
                        " phase = excluded.phase, shape_class = excluded.shape_class,"
                        " time_ns = excluded.time_ns, kept = max(kept, excluded.kept)"
                        " RETURNING id",
                        "writing a call", &row));
    row_put_text(&row, call->instance);
    row_put_text(&row, hash);
    row_put_i64(&row, call->step);
    row_put_i64(&row, call->part);
    row_put_text(&row, call->phase);
    row_put_text(&row, call->shape_class);
    row_put_i64(&row, (int64_t)call->time_ns);
    row_put_i64(&row, call->is_kept);
    TAPML_TRY(row_next(&row, &has));
    *out_id = has ? row_i64(&row, 0) : 0;
    if (has) {
        row_end(&row);
    }
    return TAPML_OK;
}

tapml_status store_add_call(struct store *store, const struct store_call *call)
{
    char hash[HASH_TEXT];
    int64_t id = 0;
    hash_text(call->prompt, hash);
    TAPML_TRY(touch_prompt(store, call->prompt, hash));
    TAPML_TRY(write_call(store, call, hash, &id));
    for (uint32_t i = 0; i < call->output_count; i++) {
        TAPML_TRY(write_statistic(store, id, &call->outputs[i]));
    }
    return TAPML_OK;
}

static tapml_status
write_prompt(struct store *store, const struct store_prompt *prompt, const struct text *lists)
{
    char hash[HASH_TEXT];
    const char *run = NULL;
    struct row row;
    hash_text(prompt->hash, hash);
    TAPML_TRY(text_status(&lists[0]));
    TAPML_TRY(text_status(&lists[1]));
    TAPML_TRY(store_run(store, &run));
    TAPML_TRY(row_begin(store,
                        "INSERT INTO prompt VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (hash) DO UPDATE"
                        " SET position = excluded.position, text = excluded.text,"
                        " ids = excluded.ids, greedy = excluded.greedy",
                        "writing a prompt", &row));
    row_put_text(&row, hash);
    row_put_i64(&row, prompt->index);
    row_put_text(&row, prompt->text);
    row_put_text(&row, lists[0].data);
    row_put_text(&row, lists[1].data);
    row_put_text(&row, run);
    return row_run(&row);
}

tapml_status store_add_prompt(struct store *store, const struct store_prompt *prompt)
{
    struct text lists[2];
    text_init(&lists[0]);
    text_init(&lists[1]);
    list_print_i32(&lists[0], prompt->ids, (size_t)prompt->id_count);
    list_print_i32(&lists[1], prompt->greedy, (size_t)prompt->greedy_count);
    const tapml_status status = write_prompt(store, prompt, lists);
    text_release(&lists[0]);
    text_release(&lists[1]);
    return status;
}

// The greedy ids as text in `row`, which has ended where the prompt was not carved to its end.
static tapml_status
find_prompt(struct store *store, struct hash prompt, struct row *row, int *out_has)
{
    char hash[HASH_TEXT];
    hash_text(prompt, hash);
    TAPML_TRY(row_begin(store, "SELECT greedy FROM prompt WHERE hash = ? AND greedy IS NOT NULL",
                        "reading a prompt", row));
    row_put_text(row, hash);
    return row_next(row, out_has);
}

int store_has_prompt(struct store *store, struct hash prompt)
{
    struct row row;
    int has = 0;
    const tapml_status status = find_prompt(store, prompt, &row, &has);
    if (status == TAPML_OK && has) {
        row_end(&row);
    }
    return status == TAPML_OK && has;
}

tapml_status
store_greedy(struct store *store, struct hash prompt, int32_t **out_ids, int64_t *out_count)
{
    struct row row;
    int has = 0;
    TAPML_TRY(find_prompt(store, prompt, &row, &has));
    if (!has) {
        char hash[HASH_TEXT];
        hash_text(prompt, hash);
        return status_fail(TAPML_NOT_FOUND, "store '%s' has no carved prompt '%s'", store->path,
                           hash);
    }
    size_t count = 0;
    const tapml_status status = list_parse_i32(row_text(&row, 0), out_ids, &count);
    row_end(&row);
    if (status == TAPML_OK) {
        *out_count = (int64_t)count;
    }
    return status;
}

int64_t store_prompt_index(struct store *store, struct hash prompt)
{
    char hash[HASH_TEXT];
    struct row row;
    int has = 0;
    hash_text(prompt, hash);
    if (row_begin(store, "SELECT position FROM prompt WHERE hash = ? AND greedy IS NOT NULL",
                  "reading a prompt", &row) != TAPML_OK) {
        return -1;
    }
    row_put_text(&row, hash);
    if (row_next(&row, &has) != TAPML_OK || !has) {
        return -1;
    }
    const int64_t index = row_is_null(&row, 0) ? -1 : row_i64(&row, 0);
    row_end(&row);
    return index;
}

// Appends the ids that `row` has to the array.
static tapml_status read_ids(struct row *row, int64_t **ids, size_t *count)
{
    size_t capacity = 0;
    int has = 0;
    TAPML_TRY(row_next(row, &has));
    while (has) {
        void *grown = *ids;
        if (!alloc_grow(&grown, &capacity, *count, sizeof(**ids))) {
            row_end(row);
            return status_no_memory();
        }
        *ids = grown;
        (*ids)[(*count)++] = row_i64(row, 0);
        TAPML_TRY(row_next(row, &has));
    }
    return TAPML_OK;
}

tapml_status store_case_ids(struct store *store, int64_t **out_ids, size_t *out_count)
{
    struct row row;
    int64_t *ids = NULL;
    size_t count = 0;
    TAPML_TRY(row_begin(store,
                        "SELECT id FROM \"case\" LEFT JOIN prompt ON hash = prompt"
                        " ORDER BY position IS NULL, position, id",
                        "listing cases", &row));
    const tapml_status status = read_ids(&row, &ids, &count);
    if (status != TAPML_OK) {
        alloc_free(ids);
        return status;
    }
    *out_ids = ids;
    *out_count = count;
    return TAPML_OK;
}

static int parse_hash(const char *text, struct hash *out_hash)
{
    unsigned long long high = 0;
    unsigned long long low = 0;
    char again[HASH_TEXT];
    if (sscanf(text, "%16llx%16llx", &high, &low) != 2) {
        return 0;
    }
    *out_hash = (struct hash){.high = high, .low = low};
    hash_text(*out_hash, again);
    return strcmp(text, again) == 0;
}

// Names are shown to people, and may become names of files.
static int is_plain(const char *text)
{
    for (; *text; text++) {
        if ((unsigned char)*text < 0x20 || *text == 0x7f) {
            return 0;
        }
    }
    return 1;
}

static tapml_status parse_case(struct row *row, struct arena *arena, struct carved_case *item)
{
    item->instance = arena_text(arena, row_text(row, 0));
    item->op_name = arena_text(arena, row_text(row, 1));
    item->op_version = (uint32_t)row_i64(row, 2);
    item->phase = arena_text(arena, row_text(row, 3));
    item->shape_class = arena_text(arena, row_text(row, 4));
    item->step = row_i64(row, 6);
    item->part = row_i64(row, 7);
    item->tokens = row_i64(row, 8);
    const int64_t count = row_i64(row, 9);
    if (!item->instance || !item->op_name || !item->phase || !item->shape_class) {
        return status_no_memory();
    }
    if (!is_plain(item->instance) || !is_plain(item->op_name) || !is_plain(item->phase) ||
        !is_plain(item->shape_class)) {
        return status_fail(TAPML_INVALID, "its names have control characters");
    }
    if (!parse_hash(row_text(row, 5), &item->prompt) || count > ARGUMENTS_MAX) {
        return status_fail(TAPML_INVALID, "its prompt or its number of arguments is wrong");
    }
    item->argument_count = (uint32_t)count;
    item->arguments = arena_array(arena, (size_t)count, sizeof(*item->arguments));
    return item->arguments ? TAPML_OK : status_no_memory();
}

static tapml_status
read_case(struct store *store, int64_t id, struct arena *arena, struct carved_case *item)
{
    struct row row;
    int has = 0;
    TAPML_TRY(row_begin(store,
                        "SELECT instance, op, version, phase, shape_class, prompt, step, part,"
                        " tokens, (SELECT count(*) FROM argument WHERE case_id = \"case\".id)"
                        " FROM \"case\" WHERE id = ?",
                        "reading a case", &row));
    row_put_i64(&row, id);
    TAPML_TRY(row_next(&row, &has));
    if (!has) {
        return status_fail(TAPML_NOT_FOUND, "there is no such case");
    }
    item->id = id;
    const tapml_status status = parse_case(&row, arena, item);
    row_end(&row);
    TAPML_TRY(status);
    for (uint32_t i = 0; i < item->argument_count; i++) {
        TAPML_TRY(argument_read(store, id, i, arena, &item->arguments[i]));
    }
    return TAPML_OK;
}

tapml_status
store_load_case(struct store *store, int64_t id, struct arena *arena, struct carved_case *out_case)
{
    struct carved_case item = {0};
    const tapml_status status = read_case(store, id, arena, &item);
    if (status != TAPML_OK) {
        return status_explain(status, "store '%s', case %lld", store->path, (long long)id);
    }
    *out_case = item;
    return TAPML_OK;
}

// A call while its rows come, one for each output: texts of a row end with it, so they are copied.
struct gathered {
    int64_t id; // 0: none yet.
    struct store_call call;
    struct text instance, phase, shape_class;
    struct text params[STORE_OUTPUTS_MAX];
};

static void gathered_init(struct gathered *gathered)
{
    *gathered = (struct gathered){0};
    text_init(&gathered->instance);
    text_init(&gathered->phase);
    text_init(&gathered->shape_class);
    for (int i = 0; i < STORE_OUTPUTS_MAX; i++) {
        text_init(&gathered->params[i]);
    }
}

static void gathered_release(struct gathered *gathered)
{
    text_release(&gathered->instance);
    text_release(&gathered->phase);
    text_release(&gathered->shape_class);
    for (int i = 0; i < STORE_OUTPUTS_MAX; i++) {
        text_release(&gathered->params[i]);
    }
}

static tapml_status copy_column(struct row *row, int column, struct text *text)
{
    text_clear(text);
    text_append(text, row_text(row, column));
    return text_status(text);
}

static tapml_status begin_call(struct row *row, struct gathered *gathered)
{
    TAPML_TRY(copy_column(row, 1, &gathered->instance));
    TAPML_TRY(copy_column(row, 5, &gathered->phase));
    TAPML_TRY(copy_column(row, 6, &gathered->shape_class));
    gathered->id = row_i64(row, 0);
    gathered->call = (struct store_call){
        .instance = gathered->instance.data,
        .step = row_i64(row, 3),
        .part = row_i64(row, 4),
        .phase = gathered->phase.data,
        .shape_class = gathered->shape_class.data,
        .time_ns = (uint64_t)row_i64(row, 7),
        .is_kept = row_i64(row, 8) != 0,
    };
    if (!parse_hash(row_text(row, 2), &gathered->call.prompt)) {
        return status_fail(TAPML_INVALID, "call %lld has no prompt", (long long)gathered->id);
    }
    return TAPML_OK;
}

static tapml_status add_output(struct row *row, struct gathered *gathered)
{
    struct store_call *call = &gathered->call;
    if (row_is_null(row, 9)) {
        return TAPML_OK;
    }
    if (call->output_count == STORE_OUTPUTS_MAX) {
        return status_fail(TAPML_INVALID, "call %lld has more than %d outputs",
                           (long long)gathered->id, STORE_OUTPUTS_MAX);
    }
    struct text *param = &gathered->params[call->output_count];
    TAPML_TRY(copy_column(row, 9, param));
    call->outputs[call->output_count++] = (struct store_statistics){
        .param = param->data,
        .least = row_f64(row, 10),
        .largest = row_f64(row, 11),
        .mean_square = row_f64(row, 12),
        .count = (uint64_t)row_i64(row, 13),
        .non_finite = (uint64_t)row_i64(row, 14),
        .non_finite_kinds = (uint32_t)row_i64(row, 15),
    };
    return TAPML_OK;
}

// Takes a row: a new call ends the one before.
static tapml_status
visit_row(struct row *row, struct gathered *gathered, store_visit_call_fn visit, void *user)
{
    if (row_i64(row, 0) != gathered->id) {
        if (gathered->id != 0) {
            visit(user, &gathered->call);
        }
        TAPML_TRY(begin_call(row, gathered));
    }
    return add_output(row, gathered);
}

static tapml_status
visit_rows(struct row *row, struct gathered *gathered, store_visit_call_fn visit, void *user)
{
    int has = 0;
    TAPML_TRY(row_next(row, &has));
    while (has) {
        const tapml_status status = visit_row(row, gathered, visit, user);
        if (status != TAPML_OK) {
            row_end(row);
            return status_explain(status, "store '%s'", row->store->path);
        }
        TAPML_TRY(row_next(row, &has));
    }
    if (gathered->id != 0) {
        visit(user, &gathered->call);
    }
    return TAPML_OK;
}

tapml_status store_visit_calls(struct store *store, store_visit_call_fn visit, void *user)
{
    struct row row;
    TAPML_TRY(
        row_begin(store,
                  "SELECT id, instance, prompt, step, part, phase, shape_class, time_ns, kept,"
                  " param, least, largest, mean_square, count, non_finite, kinds"
                  " FROM call LEFT JOIN statistic ON call_id = id ORDER BY id, param",
                  "reading calls", &row));
    struct gathered gathered;
    gathered_init(&gathered);
    const tapml_status status = visit_rows(&row, &gathered, visit, user);
    gathered_release(&gathered);
    return status;
}

sqlite3 *store_connection(struct store *store)
{
    return store->connection;
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
