// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/query.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/text.h"
#include "store/query_words.h"
#include "store/store.h"

#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum {
    CHECK_STEPS = 20000, // Of SQLite's machine, between two checks: less than a millisecond.
    INSERT_ROWS = 16,    // That one statement adds, which costs less than one each.
    CHECK_ROWS = 512,    // That are added between two checks.
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
    sqlite3_stmt *statement; // The question.
    char *bytes;             // In hexadecimal, the last value that was no text.
    int is_ours;             // What is prepared now is a statement of this module.
    enum query_refusal refusal;
    char refused[64];     // The name of what was refused.
    tapml_status checked; // The first failure of a check.
    int is_filled;
    int64_t heap_before; // The limit that there was.
    size_t added;
    struct {
        int is_read;
        uint64_t columns;          // A bit for each that is read.
        sqlite3_stmt *insert;      // Of one row.
        sqlite3_stmt *insert_many; // Of INSERT_ROWS.
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

static tapml_status make_table(struct query *query, const struct query_view *view)
{
    struct text sql;
    ASSERT(view->count > 0 && view->count <= QUERY_COLUMNS_MAX);
    text_init(&sql);
    text_format(&sql, "CREATE TABLE \"%s\" (", view->name);
    for (size_t i = 0; i < view->count; i++) {
        text_format(&sql, "%s\"%s\"", i == 0 ? "" : ", ", view->columns[i].name);
    }
    text_append(&sql, ")");
    const tapml_status status =
        text_status(&sql) == TAPML_OK ? execute(query, sql.data) : status_no_memory();
    text_release(&sql);
    return status;
}

// Nothing is ever written to a file: neither tables nor what a sort spills.
static const char SETTINGS[] =
    "PRAGMA temp_store = MEMORY; PRAGMA journal_mode = OFF; PRAGMA locking_mode = EXCLUSIVE;"
    "BEGIN";

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
        TAPML_TRY(make_table(query, query->options.views[i]));
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
    for (size_t i = 0; i < query->options.view_count; i++) {
        (void)sqlite3_finalize(query->views[i].insert); // Repeats the code of the last step.
        (void)sqlite3_finalize(query->views[i].insert_many);
    }
    (void)sqlite3_finalize(query->statement);
    (void)sqlite3_close_v2(query->connection); // Cannot fail.
    (void)sqlite3_hard_heap_limit64(query->heap_before);
    alloc_free(query->bytes);
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

static int is_column_read(const struct query *query, size_t view, size_t column)
{
    return (query->views[view].columns >> column & 1) != 0;
}

static size_t count_columns(const struct query *query, size_t view)
{
    return (size_t)__builtin_popcountll(query->views[view].columns);
}

// "INSERT INTO v (a, b) VALUES (?, ?), (?, ?)", of the columns that are read.
static void print_insert(const struct query *query, size_t view, size_t rows, struct text *out)
{
    const struct query_view *item = query->options.views[view];
    const char *between = "";
    text_format(out, "INSERT INTO \"%s\"", item->name);
    if (query->views[view].columns == 0) {
        text_append(out, " DEFAULT VALUES");
        return;
    }
    text_append(out, " (");
    for (size_t i = 0; i < item->count; i++) {
        if (is_column_read(query, view, i)) {
            text_format(out, "%s\"%s\"", between, item->columns[i].name);
            between = ", ";
        }
    }
    text_append(out, ") VALUES ");
    for (size_t row = 0; row < rows; row++) {
        text_append(out, row > 0 ? ", (?" : "(?");
        for (size_t i = 1; i < count_columns(query, view); i++) {
            text_append(out, ", ?");
        }
        text_append(out, ")");
    }
}

static tapml_status
prepare_insert(struct query *query, size_t view, size_t rows, sqlite3_stmt **io_statement)
{
    struct text sql;
    if (*io_statement) {
        return TAPML_OK;
    }
    text_init(&sql);
    print_insert(query, view, rows, &sql);
    tapml_status status = text_status(&sql);
    if (status == TAPML_OK) {
        query->is_ours = 1;
        const int code = sqlite3_prepare_v3(query->connection, sql.data, -1,
                                            SQLITE_PREPARE_PERSISTENT, io_statement, NULL);
        query->is_ours = 0;
        status = code == SQLITE_OK ? TAPML_OK : fail(query, code);
    }
    text_release(&sql);
    return status;
}

static int bind_value(sqlite3_stmt *statement, int at, const struct query_value *value)
{
    switch (value->type) {
    case QUERY_INTEGER:
        return sqlite3_bind_int64(statement, at, value->integer);
    case QUERY_REAL:
        return sqlite3_bind_double(statement, at, value->real);
    case QUERY_TEXT:
        return sqlite3_bind_text64(statement, at, value->text, value->bytes, SQLITE_STATIC,
                                   SQLITE_UTF8);
    case QUERY_NULL:
        break;
    }
    return sqlite3_bind_null(statement, at);
}

static tapml_status insert(struct query *query, sqlite3_stmt *statement, size_t rows)
{
    const int code = sqlite3_step(statement);
    (void)sqlite3_reset(statement); // Repeats the code of the step.
    if (code != SQLITE_DONE) {
        return fail(query, code);
    }
    const size_t before = query->added / CHECK_ROWS;
    query->added += rows;
    return query->added / CHECK_ROWS > before && check(query) ? query->checked : TAPML_OK;
}

// Binds the values of an item, from the `at`-th on.
static int bind_item(struct query *query,
                     size_t view,
                     sqlite3_stmt *statement,
                     int at,
                     query_get_fn get,
                     const void *item)
{
    int code = SQLITE_OK;
    for (size_t i = 0; i < query->options.views[view]->count && code == SQLITE_OK; i++) {
        if (is_column_read(query, view, i)) {
            struct query_value value;
            get(item, i, &value);
            code = bind_value(statement, at++, &value);
        }
    }
    return code;
}

tapml_status query_add(struct query *query,
                       size_t view,
                       query_get_fn get,
                       const void *items,
                       size_t item_bytes,
                       size_t count)
{
    ASSERT(query->statement && !query->is_filled && view < query->options.view_count);
    const size_t columns = count_columns(query, view);
    const unsigned char *item = items;
    sqlite3_stmt **one = &query->views[view].insert, **many = &query->views[view].insert_many;
    TAPML_TRY(prepare_insert(query, view, 1, one));
    TAPML_TRY(prepare_insert(query, view, INSERT_ROWS, many));
    while (count > 0) {
        const size_t rows = columns > 0 && count >= INSERT_ROWS ? INSERT_ROWS : 1;
        sqlite3_stmt *statement = rows > 1 ? *many : *one;
        for (size_t row = 0; row < rows; row++, item += item_bytes) {
            const int code = bind_item(query, view, statement, 1 + (int)(row * columns), get, item);
            if (code != SQLITE_OK) {
                return fail(query, code);
            }
        }
        TAPML_TRY(insert(query, statement, rows));
        count -= rows;
    }
    return TAPML_OK;
}

static void print_select(const struct query *query, size_t view, struct text *out)
{
    const struct query_view *item = query->options.views[view];
    const char *between = "";
    text_append(out, "SELECT ");
    for (size_t i = 0; i < item->count; i++) {
        if (is_column_read(query, view, i)) {
            text_format(out, "%s%s", between, item->columns[i].value);
            between = ", ";
        }
    }
    text_format(out, "%s FROM %s", *between == '\0' ? "1" : "", item->from);
}

static tapml_status
copy_rows(struct query *query, size_t view, struct store *store, sqlite3_stmt *from)
{
    sqlite3_stmt *to = query->views[view].insert;
    const int count = (int)count_columns(query, view);
    for (;;) {
        int code = sqlite3_step(from);
        if (code != SQLITE_ROW) {
            return code == SQLITE_DONE ? TAPML_OK : store_fail(store, code, "reading a view");
        }
        for (int i = 0; i < count && code == SQLITE_ROW; i++) {
            const int bound = sqlite3_bind_value(to, i + 1, sqlite3_column_value(from, i));
            code = bound == SQLITE_OK ? code : bound;
        }
        TAPML_TRY(code == SQLITE_ROW ? insert(query, to, 1) : fail(query, code));
    }
}

tapml_status query_copy(struct query *query, size_t view, struct store *store, const char *run)
{
    struct text sql;
    sqlite3_stmt *from = NULL;
    ASSERT(query->statement && !query->is_filled && view < query->options.view_count);
    ASSERT(query->options.views[view]->from);
    TAPML_TRY(prepare_insert(query, view, 1, &query->views[view].insert));
    text_init(&sql);
    print_select(query, view, &sql);
    tapml_status status = text_status(&sql);
    status = status == TAPML_OK ? store_statement(store, sql.data, &from) : status;
    if (status == TAPML_OK) {
        if (sqlite3_bind_parameter_count(from) > 0) {
            (void)sqlite3_bind_text(from, 1, run, -1, SQLITE_STATIC); // Or it reads as NULL.
        }
        status = copy_rows(query, view, store, from);
        (void)sqlite3_reset(from); // Repeats the code of the last step.
    }
    text_release(&sql);
    return status;
}

// -- The answer --------------------------------------------------------------------------------

tapml_status query_next(struct query *query, int *out_has)
{
    ASSERT(query->statement);
    if (!query->is_filled) {
        query->is_filled = 1;
        TAPML_TRY(execute(query, "COMMIT"));
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
