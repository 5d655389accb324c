// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/query.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/text.h"
#include "store/query_table.h"
#include "store/query_words.h"

#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum {
    CHECK_STEPS = 20000, // Of SQLite's machine, between two checks: less than a millisecond.
    SQL_BYTES_MAX = 1 << 20,
    VALUE_BYTES_MAX = 16 << 20
};

// What a statement may do wrong that is no mistake of SQL.
enum query_refusal {
    QUERY_REFUSED_NOT,
    QUERY_REFUSED_ACTION,
    QUERY_REFUSED_TABLE,
    QUERY_REFUSED_FUNCTION
};

struct query {
    struct query_options options;
    sqlite3 *connection;
    char *sql;               // The question,
    sqlite3_stmt *statement; // prepared.
    struct query_rows_budget budget;
    char *bytes; // In hexadecimal, the last value that was no text.
    int is_ours; // What is prepared now is a statement of this module.
    enum query_refusal refusal;
    char refused[64];     // The name of what was refused.
    tapml_status checked; // The first failure of a check.
    int is_filled;
    int64_t heap_before; // The limit that there was.
    struct {
        int is_read;
        uint64_t columns; // A bit for each that is read.
        struct query_table *table;
    } views[QUERY_VIEWS_MAX];
};

// -- What a statement may do -------------------------------------------------------------------

static int refuse(struct query *query, enum query_refusal refusal, const char *name)
{
    query->refusal = refusal;
    (void)snprintf(query->refused, sizeof(query->refused), "%s", name ? name : "");
    return SQLITE_DENY;
}

static int find_view(const struct query *query, const char *name, size_t *out_view)
{
    for (size_t i = 0; i < query->options.view_count; i++) {
        if (strcasecmp(query->options.views[i]->name, name) == 0) {
            *out_view = i;
            return 1;
        }
    }
    return 0;
}

static void note_column(struct query *query, size_t view, const char *name)
{
    const struct query_view *item = query->options.views[view];
    query->views[view].is_read = 1;
    for (size_t i = 0; i < item->count; i++) {
        if (strcasecmp(item->columns[i].name, name) == 0) {
            query->views[view].columns |= UINT64_C(1) << i;
        }
    }
}

// A statement that counts rows names no column; it may count those of a table of its own (WITH).
static int authorize_reading(struct query *query, const char *table, const char *column)
{
    size_t view = 0;
    if (find_view(query, table, &view)) {
        note_column(query, view, column);
        return SQLITE_OK;
    }
    return *column == '\0' ? SQLITE_OK : refuse(query, QUERY_REFUSED_TABLE, table);
}

static int authorize(void *user,
                     int action,
                     const char *first,
                     const char *second,
                     const char *database,
                     const char *trigger)
{
    struct query *query = user;
    (void)database;
    (void)trigger;
    if (query->is_ours) {
        return SQLITE_OK;
    }
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_RECURSIVE:
        return SQLITE_OK;
    case SQLITE_READ:
        return authorize_reading(query, first ? first : "", second ? second : "");
    case SQLITE_FUNCTION:
        return query_words_is_function(second ? second : "")
                   ? SQLITE_OK
                   : refuse(query, QUERY_REFUSED_FUNCTION, second);
    default:
        return refuse(query, QUERY_REFUSED_ACTION, "");
    }
}

// -- Failures ----------------------------------------------------------------------------------

static int check(void *user)
{
    struct query *query = user;
    if (query->checked == TAPML_OK) {
        query->checked = query->options.check(query->options.user);
    }
    return query->checked != TAPML_OK;
}

static tapml_status fail_of_statement(const struct query *query, const char *message)
{
    return query_words_fail(query->options.views, query->options.view_count, message);
}

static tapml_status fail_refused(const struct query *query)
{
    char message[96];
    switch (query->refusal) {
    case QUERY_REFUSED_TABLE:
        (void)snprintf(message, sizeof(message), "no such table: %s", query->refused);
        return fail_of_statement(query, message);
    case QUERY_REFUSED_FUNCTION:
        return status_fail(TAPML_INVALID,
                           "the query calls '%s', which is none of the functions that a query may "
                           "call",
                           query->refused);
    case QUERY_REFUSED_NOT:
    case QUERY_REFUSED_ACTION:
        break;
    }
    return status_fail(
        TAPML_INVALID,
        "a query reads the views and does nothing else: a SELECT over them is expected");
}

static tapml_status fail(const struct query *query, int code)
{
    if (query->checked != TAPML_OK) {
        return query->checked; // With the message of the check.
    }
    switch (code & 0xff) {
    case SQLITE_NOMEM:
    case SQLITE_FULL:
        return status_fail(TAPML_NO_MEMORY, "the query needs more memory than it may have");
    case SQLITE_AUTH:
        return fail_refused(query);
    default:
        return query->refusal != QUERY_REFUSED_NOT
                   ? fail_refused(query)
                   : fail_of_statement(query, sqlite3_errmsg(query->connection));
    }
}

// -- The database ------------------------------------------------------------------------------

static tapml_status execute(struct query *query, const char *sql)
{
    query->is_ours = 1;
    const int code = sqlite3_exec(query->connection, sql, NULL, NULL, NULL);
    query->is_ours = 0;
    return code == SQLITE_OK ? TAPML_OK : fail(query, code);
}

// SQLite makes what it knows of the table when it is read for the first time, by a statement that a
// question may not have.
static tapml_status make_table(struct query *query, size_t view)
{
    const struct query_view *item = query->options.views[view];
    struct text sql;
    TAPML_TRY(
        query_table_create(query->connection, item, &query->budget, &query->views[view].table));
    text_init(&sql);
    text_format(&sql, "SELECT 1 FROM \"%s\"", item->name);
    const tapml_status status =
        text_status(&sql) == TAPML_OK ? execute(query, sql.data) : status_no_memory();
    text_release(&sql);
    return status;
}

// Nothing is ever written to a file: neither tables nor what a sort spills.
static const char SETTINGS[] = "PRAGMA temp_store = MEMORY; PRAGMA journal_mode = OFF;";

static tapml_status open_database(struct query *query)
{
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX;
    const int code = sqlite3_open_v2(":memory:", &query->connection, flags, NULL);
    if (code != SQLITE_OK) {
        return fail(query, code);
    }
    sqlite3 *connection = query->connection;
    (void)sqlite3_limit(connection, SQLITE_LIMIT_LENGTH, VALUE_BYTES_MAX);
    (void)sqlite3_limit(connection, SQLITE_LIMIT_SQL_LENGTH, SQL_BYTES_MAX);
    (void)sqlite3_limit(connection, SQLITE_LIMIT_ATTACHED, 0);
    (void)sqlite3_db_config(connection, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    (void)sqlite3_db_config(connection, SQLITE_DBCONFIG_DQS_DML, 0, NULL); // "x" is no text.
    (void)sqlite3_db_config(connection, SQLITE_DBCONFIG_DQS_DDL, 0, NULL);
    (void)sqlite3_set_authorizer(connection, authorize, query);
    sqlite3_progress_handler(connection, CHECK_STEPS, check, query);
    TAPML_TRY(execute(query, SETTINGS));
    for (size_t i = 0; i < query->options.view_count; i++) {
        TAPML_TRY(make_table(query, i));
    }
    return TAPML_OK;
}

tapml_status query_create(const struct query_options *options, struct query **out_query)
{
    ASSERT(options->view_count <= QUERY_VIEWS_MAX && options->check);
    struct query *query = alloc_new(sizeof(*query));
    if (!query) {
        return status_no_memory();
    }
    query->options = *options;
    query->budget.most = options->memory_bytes;
    query->heap_before = sqlite3_hard_heap_limit64((int64_t)options->memory_bytes);
    const tapml_status status = open_database(query);
    if (status != TAPML_OK) {
        query_destroy(query);
        return status;
    }
    *out_query = query;
    return TAPML_OK;
}

void query_destroy(struct query *query)
{
    if (!query) {
        return;
    }
    (void)sqlite3_finalize(query->statement);  // Repeats the code of the last step.
    (void)sqlite3_close_v2(query->connection); // Cannot fail.
    for (size_t i = 0; i < query->options.view_count; i++) {
        query_table_destroy(query->views[i].table);
    }
    (void)sqlite3_hard_heap_limit64(query->heap_before);
    alloc_free(query->bytes);
    alloc_free(query->sql);
    alloc_free(query);
}

// -- The question ------------------------------------------------------------------------------

static int is_of_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static void note_all(struct query *query, size_t view)
{
    for (size_t i = 0; i < query->options.views[view]->count; i++) {
        query->views[view].columns |= UINT64_C(1) << i;
    }
}

// Calls `note` with each word of a statement, those in texts and comments too.
static void
visit_words(struct query *query, const char *sql, void (*note)(struct query *, const char *word))
{
    char word[64];
    while (*sql != '\0') {
        size_t length = 0;
        while (is_of_word(sql[length])) {
            length++;
        }
        if (length > 0 && length < sizeof(word)) {
            (void)snprintf(word, sizeof(word), "%.*s", (int)length, sql);
            note(query, word);
        }
        sql += length > 0 ? length : 1;
    }
}

static void note_if_view(struct query *query, const char *word)
{
    size_t view = 0;
    if (find_view(query, word, &view)) {
        query->views[view].is_read = 1;
    }
}

static void note_if_column(struct query *query, const char *word)
{
    const int is_all = strcasecmp(word, "natural") == 0;
    for (size_t i = 0; i < query->options.view_count; i++) {
        if (is_all) {
            note_all(query, i);
        } else if (query->views[i].is_read) {
            note_column(query, i, word);
        }
    }
}

// SQLite does not ask for the columns of USING and of NATURAL JOIN, nor for views of which nothing
// else is read. So each word of the text that is the name of a view or of a column counts as one
// that is read, and behind NATURAL all do: too many cost time, one too few would be NULL.
static void note_words(struct query *query, const char *sql)
{
    visit_words(query, sql, note_if_view);
    visit_words(query, sql, note_if_column);
}

// Behind a statement may stand its semicolon, blanks and comments.
static tapml_status check_rest(struct query *query, const char *rest)
{
    sqlite3_stmt *second = NULL;
    while (*rest != '\0') {
        const char *next = NULL;
        const int code = sqlite3_prepare_v2(query->connection, rest, -1, &second, &next);
        const int has = second != NULL;
        (void)sqlite3_finalize(second);
        if (code != SQLITE_OK || has) {
            return status_fail(TAPML_INVALID, "a query is one statement, found more behind it");
        }
        rest = next;
    }
    return TAPML_OK;
}

tapml_status query_prepare(struct query *query, const char *sql)
{
    const char *rest = NULL;
    ASSERT(!query->statement);
    query->sql = alloc_text(sql);
    if (!query->sql) {
        return status_no_memory();
    }
    const int code = sqlite3_prepare_v2(query->connection, sql, -1, &query->statement, &rest);
    if (code != SQLITE_OK) {
        return fail(query, code);
    }
    if (!query->statement) {
        return status_fail(TAPML_INVALID, "the query is empty");
    }
    TAPML_TRY(check_rest(query, rest));
    if (!sqlite3_stmt_readonly(query->statement) || sqlite3_column_count(query->statement) == 0) {
        return fail_refused(query);
    }
    note_words(query, sql);
    return TAPML_OK;
}

int query_reads(const struct query *query, size_t view)
{
    ASSERT(view < query->options.view_count);
    return query->views[view].is_read;
}

// -- Filling -----------------------------------------------------------------------------------

struct query_value query_integer(int64_t value)
{
    return (struct query_value){.type = QUERY_INTEGER, .integer = value};
}

struct query_value query_real(double value)
{
    return isnan(value) ? (struct query_value){.type = QUERY_NULL}
                        : (struct query_value){.type = QUERY_REAL, .real = value};
}

struct query_value query_text(const char *text)
{
    return text ? (struct query_value){.type = QUERY_TEXT, .text = text, .bytes = strlen(text)}
                : (struct query_value){.type = QUERY_NULL};
}

tapml_status query_open_rows(struct query *query, size_t view, struct query_rows **out_rows)
{
    ASSERT(query->statement && view < query->options.view_count);
    return query_rows_create(&(struct query_rows_options){.view = query->options.views[view],
                                                          .columns = query->views[view].columns,
                                                          .budget = &query->budget,
                                                          .check = query->options.check,
                                                          .user = query->options.user},
                             out_rows);
}

tapml_status query_add(struct query *query, size_t view, struct query_rows *rows)
{
    ASSERT(query->statement && !query->is_filled && view < query->options.view_count);
    return query_table_add(query->views[view].table, rows);
}

// -- The answer --------------------------------------------------------------------------------

// Now that it is known how many rows the views have, SQLite finds a better way through them, and
// may have what rows have left of the memory.
static tapml_status begin_answer(struct query *query)
{
    const uint64_t most = query->options.memory_bytes;
    const uint64_t taken = atomic_load(&query->budget.taken);
    query->is_filled = 1;
    if (most > 0) {
        (void)sqlite3_hard_heap_limit64(taken < most ? (int64_t)(most - taken) : 1);
    }
    (void)sqlite3_finalize(query->statement);
    query->statement = NULL;
    const int code = sqlite3_prepare_v2(query->connection, query->sql, -1, &query->statement, NULL);
    return code == SQLITE_OK ? TAPML_OK : fail(query, code);
}

tapml_status query_next(struct query *query, int *out_has)
{
    ASSERT(query->sql);
    if (!query->is_filled) {
        TAPML_TRY(begin_answer(query));
    }
    const int code = sqlite3_step(query->statement);
    if (code != SQLITE_ROW && code != SQLITE_DONE) {
        return fail(query, code);
    }
    *out_has = code == SQLITE_ROW;
    return TAPML_OK;
}

size_t query_columns(const struct query *query)
{
    return (size_t)sqlite3_column_count(query->statement);
}

const char *query_name(const struct query *query, size_t column)
{
    const char *name = sqlite3_column_name(query->statement, (int)column);
    return name ? name : ""; // Where there is no memory.
}

static const char *print_bytes(struct query *query, const unsigned char *bytes, size_t count)
{
    struct text text;
    size_t length = 0;
    text_init(&text);
    for (size_t i = 0; i < count; i++) {
        text_format(&text, "%02x", bytes[i]);
    }
    alloc_free(query->bytes);
    query->bytes = NULL;
    return text_take(&text, &query->bytes, &length) == TAPML_OK ? query->bytes : "";
}

struct query_value query_value(struct query *query, size_t column)
{
    sqlite3_stmt *statement = query->statement;
    const int at = (int)column;
    switch (sqlite3_column_type(statement, at)) {
    case SQLITE_INTEGER:
        return query_integer(sqlite3_column_int64(statement, at));
    case SQLITE_FLOAT:
        return query_real(sqlite3_column_double(statement, at));
    case SQLITE_TEXT: {
        const char *text = (const char *)sqlite3_column_text(statement, at);
        return text ? (struct query_value){.type = QUERY_TEXT,
                                           .text = text,
                                           .bytes = (size_t)sqlite3_column_bytes(statement, at)}
                    : (struct query_value){.type = QUERY_NULL};
    }
    case SQLITE_BLOB: {
        const unsigned char *bytes = sqlite3_column_blob(statement, at);
        return query_text(print_bytes(query, bytes, (size_t)sqlite3_column_bytes(statement, at)));
    }
    default:
        return (struct query_value){.type = QUERY_NULL};
    }
}
