// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/query_rows.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/assert.h"
#include "base/hash.h"
#include "base/text.h"
#include "store/store.h"

#include <sqlite3.h>
#include <string.h>

enum { TEXTS = 1024, CHUNK_ROWS = 512, NOT_READ = QUERY_COLUMNS_MAX };

// A value without what its type does not need.
struct query_cell {
    union {
        int64_t integer;
        double real;
        const char *text;
    } is;
    uint32_t bytes;
    uint8_t type;
};

struct query_rows {
    struct query_rows_options options;
    uint8_t places[QUERY_COLUMNS_MAX]; // Of each column in a row, or NOT_READ.
    uint8_t columns[QUERY_COLUMNS_MAX];
    size_t width;
    struct query_cell **chunks; // Of CHUNK_ROWS rows each, row by row.
    size_t chunk_count, capacity;
    size_t count;
    struct arena *arena;                 // Of texts.
    uint64_t taken;                      // Of the budget.
    struct query_cell texts[TEXTS];      // Some that there were, by their hashes.
    const char *last[QUERY_COLUMNS_MAX]; // What each text of the row before was copied from.
};

tapml_status query_rows_take(struct query_rows_budget *budget, uint64_t bytes)
{
    const uint64_t taken = atomic_fetch_add(&budget->taken, bytes) + bytes;
    return budget->most > 0 && taken > budget->most
               ? status_fail(TAPML_NO_MEMORY, "the query needs more memory than it may have")
               : TAPML_OK;
}

static tapml_status take(struct query_rows *rows, uint64_t bytes)
{
    rows->taken += bytes;
    return query_rows_take(rows->options.budget, bytes);
}

tapml_status query_rows_create(const struct query_rows_options *options,
                               struct query_rows **out_rows)
{
    struct query_rows *rows = alloc_new(sizeof(*rows));
    if (!rows) {
        return status_no_memory();
    }
    rows->options = *options;
    rows->arena = arena_create();
    for (size_t i = 0; i < options->view->count; i++) {
        rows->places[i] = NOT_READ;
        if ((options->columns >> i & 1) != 0) {
            rows->columns[rows->width] = (uint8_t)i;
            rows->places[i] = (uint8_t)rows->width++;
        }
    }
    const tapml_status status = rows->arena ? take(rows, sizeof(*rows)) : status_no_memory();
    if (status != TAPML_OK) {
        query_rows_destroy(rows);
        return status;
    }
    *out_rows = rows;
    return TAPML_OK;
}

void query_rows_destroy(struct query_rows *rows)
{
    if (!rows) {
        return;
    }
    (void)atomic_fetch_sub(&rows->options.budget->taken, rows->taken);
    arena_destroy(rows->arena);
    for (size_t i = 0; i < rows->chunk_count; i++) {
        alloc_free(rows->chunks[i]);
    }
    alloc_free(rows->chunks);
    alloc_free(rows);
}

// -- Adding ------------------------------------------------------------------------------------

// Many values of a column say the same, as the names of operators do: one of the last texts with
// the same hash that is the same text is taken for it.
static tapml_status keep_text(struct query_rows *rows,
                              const char *text,
                              size_t bytes,
                              enum query_type type,
                              struct query_cell *out)
{
    struct query_cell *known = &rows->texts[hash_bytes(text, bytes).low % TEXTS];
    if (bytes > UINT32_MAX) {
        return status_fail(TAPML_INVALID, "a value of the store has %zu bytes", bytes);
    }
    if (known->type != QUERY_NULL && known->bytes == bytes &&
        memcmp(known->is.text, text, bytes) == 0) {
        *out = *known;
        out->type = (uint8_t)type;
        return TAPML_OK;
    }
    TAPML_TRY(take(rows, bytes + 1));
    char *copy = arena_new(rows->arena, bytes + 1);
    if (!copy) {
        return status_no_memory();
    }
    (void)memcpy(copy, text, bytes); // The arena's bytes are zeros.
    *out = *known =
        (struct query_cell){.is.text = copy, .bytes = (uint32_t)bytes, .type = (uint8_t)type};
    return TAPML_OK;
}

static tapml_status
keep(struct query_rows *rows, const struct query_value *value, struct query_cell *out)
{
    *out = (struct query_cell){.type = (uint8_t)value->type};
    switch (value->type) {
    case QUERY_INTEGER:
        out->is.integer = value->integer;
        return TAPML_OK;
    case QUERY_REAL:
        out->is.real = value->real;
        return TAPML_OK;
    case QUERY_TEXT:
    case QUERY_BYTES:
        return keep_text(rows, value->text ? value->text : "", value->bytes, value->type, out);
    case QUERY_NULL:
        break;
    }
    return TAPML_OK;
}

static tapml_status add_chunk(struct query_rows *rows)
{
    const size_t cells = CHUNK_ROWS * rows->width;
    void *grown = rows->chunks;
    TAPML_TRY(take(rows, cells * sizeof(struct query_cell)));
    if (!alloc_grow(&grown, &rows->capacity, rows->chunk_count, sizeof(struct query_cell *))) {
        return status_no_memory();
    }
    rows->chunks = grown;
    struct query_cell *chunk = alloc_array(cells, sizeof(*chunk));
    if (!chunk) {
        return status_no_memory();
    }
    rows->chunks[rows->chunk_count++] = chunk;
    return TAPML_OK;
}

static struct query_cell *find_row(const struct query_rows *rows, size_t row)
{
    return &rows->chunks[row / CHUNK_ROWS][row % CHUNK_ROWS * rows->width];
}

// The cells of the row behind the last one; NULL where no column is read.
static tapml_status begin_row(struct query_rows *rows, struct query_cell **out_cells)
{
    *out_cells = NULL;
    if (rows->width == 0) {
        return TAPML_OK;
    }
    if (rows->count % CHUNK_ROWS == 0) {
        TAPML_TRY(add_chunk(rows));
    }
    *out_cells = find_row(rows, rows->count);
    return TAPML_OK;
}

static tapml_status end_row(struct query_rows *rows)
{
    return ++rows->count % CHUNK_ROWS == 0 ? rows->options.check(rows->options.user) : TAPML_OK;
}

// A text that stands where the one of the row before did is the same text.
static tapml_status
add_item(struct query_rows *rows, query_get_fn get, const void *item, struct query_cell *cells)
{
    const struct query_cell *before =
        rows->width > 0 && rows->count > 0 ? find_row(rows, rows->count - 1) : NULL;
    for (size_t i = 0; i < rows->width; i++) {
        struct query_value value = {.type = QUERY_NULL};
        get(item, rows->columns[i], &value);
        const char *text = value.type == QUERY_TEXT ? value.text : NULL;
        if (before && text && text == rows->last[i]) {
            cells[i] = before[i];
        } else {
            TAPML_TRY(keep(rows, &value, &cells[i]));
        }
        rows->last[i] = text;
    }
    return TAPML_OK;
}

tapml_status query_rows_add(
    struct query_rows *rows, query_get_fn get, const void *items, size_t item_bytes, size_t count)
{
    const unsigned char *item = items;
    (void)memset(rows->last, 0, sizeof(rows->last));
    for (size_t i = 0; i < count; i++, item += item_bytes) {
        struct query_cell *cells = NULL;
        TAPML_TRY(begin_row(rows, &cells));
        TAPML_TRY(add_item(rows, get, item, cells));
        TAPML_TRY(end_row(rows));
    }
    return TAPML_OK;
}

// -- Copying -----------------------------------------------------------------------------------

// "SELECT a, b FROM t", of the columns that are read.
static void print_select(const struct query_rows *rows, struct text *out)
{
    const struct query_view *view = rows->options.view;
    text_append(out, "SELECT ");
    for (size_t i = 0; i < rows->width; i++) {
        text_format(out, "%s%s", i > 0 ? ", " : "", view->columns[rows->columns[i]].value);
    }
    text_format(out, "%s FROM %s", rows->width == 0 ? "1" : "", view->from);
}

// SQLite may copy a text to end it, and has none if there is no memory for that.
static tapml_status read_bytes(sqlite3_stmt *from, int at, struct query_value *out_value)
{
    out_value->text = out_value->type == QUERY_TEXT ? (const char *)sqlite3_column_text(from, at)
                                                    : sqlite3_column_blob(from, at);
    out_value->bytes = (size_t)sqlite3_column_bytes(from, at);
    return out_value->text || out_value->bytes == 0 ? TAPML_OK : status_no_memory();
}

static tapml_status read_value(sqlite3_stmt *from, int at, struct query_value *out_value)
{
    *out_value = (struct query_value){.type = QUERY_NULL};
    switch (sqlite3_column_type(from, at)) {
    case SQLITE_INTEGER:
        out_value->type = QUERY_INTEGER;
        out_value->integer = sqlite3_column_int64(from, at);
        return TAPML_OK;
    case SQLITE_FLOAT:
        out_value->type = QUERY_REAL;
        out_value->real = sqlite3_column_double(from, at);
        return TAPML_OK;
    case SQLITE_TEXT:
        out_value->type = QUERY_TEXT;
        return read_bytes(from, at, out_value);
    case SQLITE_BLOB:
        out_value->type = QUERY_BYTES;
        return read_bytes(from, at, out_value);
    default:
        return TAPML_OK;
    }
}

static tapml_status copy_row(struct query_rows *rows, sqlite3_stmt *from)
{
    struct query_cell *cells = NULL;
    TAPML_TRY(begin_row(rows, &cells));
    for (size_t i = 0; i < rows->width; i++) {
        struct query_value value;
        TAPML_TRY(read_value(from, (int)i, &value));
        TAPML_TRY(keep(rows, &value, &cells[i]));
    }
    return end_row(rows);
}

static tapml_status copy_rows(struct query_rows *rows, struct store *store, sqlite3_stmt *from)
{
    for (;;) {
        const int code = sqlite3_step(from);
        if (code != SQLITE_ROW) {
            return code == SQLITE_DONE ? TAPML_OK : store_fail(store, code, "reading a view");
        }
        TAPML_TRY(copy_row(rows, from));
    }
}

tapml_status query_rows_copy(struct query_rows *rows, struct store *store, const char *run)
{
    struct text sql;
    sqlite3_stmt *from = NULL;
    ASSERT(rows->options.view->from);
    text_init(&sql);
    print_select(rows, &sql);
    tapml_status status = text_status(&sql);
    status = status == TAPML_OK ? store_statement(store, sql.data, &from) : status;
    if (status == TAPML_OK) {
        if (sqlite3_bind_parameter_count(from) > 0) {
            (void)sqlite3_bind_text(from, 1, run, -1, SQLITE_STATIC); // Or it reads as NULL.
        }
        status = copy_rows(rows, store, from);
        (void)sqlite3_reset(from); // Repeats the code of the last step.
    }
    text_release(&sql);
    return status;
}

// -- Reading -----------------------------------------------------------------------------------

size_t query_rows_count(const struct query_rows *rows)
{
    return rows->count;
}

struct query_value query_rows_value(const struct query_rows *rows, size_t row, size_t column)
{
    struct query_value value = {.type = QUERY_NULL};
    ASSERT(row < rows->count && column < rows->options.view->count);
    if (rows->places[column] == NOT_READ) {
        return value;
    }
    const struct query_cell *cell = &find_row(rows, row)[rows->places[column]];
    value.type = (enum query_type)cell->type;
    switch (value.type) {
    case QUERY_INTEGER:
        value.integer = cell->is.integer;
        break;
    case QUERY_REAL:
        value.real = cell->is.real;
        break;
    case QUERY_TEXT:
    case QUERY_BYTES:
        value.text = cell->is.text;
        value.bytes = cell->bytes;
        break;
    case QUERY_NULL:
        break;
    }
    return value;
}
