// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/query_table.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/hash.h"
#include "base/text.h"

#include <sqlite3.h>
#include <string.h>

enum { KEY_COLUMNS = 3, KEYS_MAX = 16, NONE = -1, COLUMN_BITS = 8, SEEK_COST = 4 };

// Rows by the hash of the values of some columns. Rows with the same remainder are a list, in the
// order of the table.
struct key {
    int columns[KEY_COLUMNS];                             // Or NONE.
    int has_numbers[KEY_COLUMNS], has_texts[KEY_COLUMNS]; // Of the values of each.
    uint32_t *heads, *next, *hashes;                      // Row + 1, or 0 for no more.
    size_t head_count;                                    // A power of two.
};

struct query_table {
    const struct query_view *view;
    struct query_rows_budget *budget;
    struct query_rows **parts;
    size_t *firsts; // The number of the first row of each.
    size_t part_count, part_capacity, first_capacity;
    size_t count;
    uint64_t taken; // Of the budget, by keys.
    struct key keys[KEYS_MAX];
    size_t key_count;
};

// What SQLite sees of it.
struct query_table_seen {
    sqlite3_vtab base;
    struct query_table *table;
};

struct query_cursor {
    sqlite3_vtab_cursor base;
    struct query_table *table;
    size_t part, row;      // Where it is, the row within its part.
    const struct key *key; // NULL: all rows are visited.
    uint32_t hash, at;     // What is searched by it; its row + 1, 0 behind the last.
};

// -- Rows --------------------------------------------------------------------------------------

// The part that a row is in.
static size_t find_part(const struct query_table *table, size_t row)
{
    size_t low = 0, high = table->part_count;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        *(table->firsts[middle] <= row ? &low : &high) = middle;
    }
    return low;
}

static struct query_value find_value(const struct query_table *table, size_t row, int column)
{
    const size_t part = find_part(table, row);
    return query_rows_value(table->parts[part], row - table->firsts[part], (size_t)column);
}

// -- Keys --------------------------------------------------------------------------------------

static int is_number(const struct query_value *value)
{
    return value->type == QUERY_INTEGER || value->type == QUERY_REAL;
}

// Values that SQLite takes for equal have the same hash: 1 and 1.0, 0.0 and -0.0.
static uint64_t hash_value(uint64_t hash, const struct query_value *value)
{
    double number = value->type == QUERY_INTEGER ? (double)value->integer : value->real;
    if (is_number(value)) {
        number = number == 0 ? 0 : number;
        return hash * 31 + hash_bytes(&number, sizeof(number)).low;
    }
    return hash * 31 + hash_bytes(value->bytes > 0 ? value->text : "", value->bytes).low;
}

// NULL is equal to nothing: a row with one is in no list.
static int hash_row(const struct query_table *table, struct key *key, size_t row, uint32_t *out)
{
    uint64_t hash = 0;
    for (int i = 0; i < KEY_COLUMNS && key->columns[i] != NONE; i++) {
        const struct query_value value = find_value(table, row, key->columns[i]);
        if (value.type == QUERY_NULL) {
            return 0;
        }
        key->has_numbers[i] |= is_number(&value);
        key->has_texts[i] |= !is_number(&value);
        hash = hash_value(hash, &value);
    }
    *out = (uint32_t)(hash ^ hash >> 32);
    return 1;
}

static void free_key(struct key *key)
{
    alloc_free(key->heads);
    alloc_free(key->next);
    alloc_free(key->hashes);
}

// What a key takes SQLite does not have any more, where it has a limit (store/query.h).
static void lower_limit(uint64_t bytes)
{
    const sqlite3_int64 limit = sqlite3_hard_heap_limit64(-1);
    if (limit > 0) {
        (void)sqlite3_hard_heap_limit64((uint64_t)limit > bytes ? limit - (sqlite3_int64)bytes : 1);
    }
}

static int allocate_key(struct query_table *table, struct key *key)
{
    key->head_count = 1;
    while (key->head_count < table->count) {
        key->head_count *= 2;
    }
    const uint64_t bytes = (key->head_count + 2 * (table->count + 1)) * sizeof(uint32_t);
    table->taken += bytes;
    if (query_rows_take(table->budget, bytes) != TAPML_OK) {
        return 0;
    }
    lower_limit(bytes);
    key->heads = alloc_array(key->head_count, sizeof(*key->heads));
    key->next = alloc_array(table->count + 1, sizeof(*key->next));
    key->hashes = alloc_array(table->count + 1, sizeof(*key->hashes));
    return key->heads && key->next && key->hashes;
}

// From the last row to the first, so that each list is in the order of the rows.
static int make_key(struct query_table *table, const int columns[KEY_COLUMNS])
{
    struct key *key = &table->keys[table->key_count];
    *key = (struct key){.heads = NULL};
    (void)memcpy(key->columns, columns, sizeof(key->columns));
    if (!allocate_key(table, key)) {
        free_key(key);
        return SQLITE_NOMEM;
    }
    for (size_t row = table->count; row > 0; row--) {
        uint32_t *hash = &key->hashes[row];
        if (hash_row(table, key, row - 1, hash)) {
            uint32_t *head = &key->heads[*hash & (key->head_count - 1)];
            key->next[row] = *head;
            *head = (uint32_t)row;
        }
    }
    table->key_count++;
    return SQLITE_OK;
}

// NULL with SQLITE_OK: there is none, since there are too many.
static int
find_key(struct query_table *table, const int columns[KEY_COLUMNS], const struct key **out_key)
{
    *out_key = NULL;
    for (size_t i = 0; i < table->key_count && !*out_key; i++) {
        const int is_same = memcmp(table->keys[i].columns, columns, sizeof(int) * KEY_COLUMNS) == 0;
        *out_key = is_same ? &table->keys[i] : NULL;
    }
    if (*out_key || table->key_count == KEYS_MAX || table->count >= UINT32_MAX) {
        return SQLITE_OK;
    }
    const int code = make_key(table, columns);
    *out_key = code == SQLITE_OK ? &table->keys[table->key_count - 1] : NULL;
    return code;
}

// -- What SQLite calls -------------------------------------------------------------------------

static int connect(sqlite3 *connection,
                   void *user,
                   int count,
                   const char *const *words,
                   sqlite3_vtab **out_table,
                   char **out_error)
{
    struct query_table *table = user;
    struct text sql;
    (void)count;
    (void)words;
    (void)out_error;
    text_init(&sql);
    text_append(&sql, "CREATE TABLE x (");
    for (size_t i = 0; i < table->view->count; i++) {
        text_format(&sql, "%s\"%s\"", i > 0 ? ", " : "", table->view->columns[i].name);
    }
    text_append(&sql, ")");
    struct query_table_seen *seen = alloc_new(sizeof(*seen));
    int code = seen && text_status(&sql) == TAPML_OK ? sqlite3_declare_vtab(connection, sql.data)
                                                     : SQLITE_NOMEM;
    text_release(&sql);
    if (code != SQLITE_OK) {
        alloc_free(seen);
        return code;
    }
    seen->table = table;
    *out_table = &seen->base;
    return SQLITE_OK;
}

static int disconnect(sqlite3_vtab *base)
{
    alloc_free(base);
    return SQLITE_OK;
}

// Whether a condition is that a column is equal to what another table has, and not to a constant
// or to one of a list: then looking at all rows once costs less than a key.
static int is_join(sqlite3_index_info *info, int at)
{
    sqlite3_value *constant = NULL;
    return strcmp(sqlite3_vtab_collation(info, at), "BINARY") == 0 &&
           sqlite3_vtab_rhs_value(info, at, &constant) != SQLITE_OK &&
           !sqlite3_vtab_in(info, at, -1);
}

static int is_equality(const struct sqlite3_index_constraint *condition)
{
    return condition->usable && condition->op == SQLITE_INDEX_CONSTRAINT_EQ &&
           condition->iColumn >= 0;
}

// How many rows have the same value is not known, but for the run, by convention the first column,
// which a part has one of.
static double divide_rows(const struct query_table *table, int column)
{
    enum { USUAL = 500 };
    return column == 0 ? (double)(table->part_count + 1) : USUAL;
}

static int best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
    enum { USUAL_CONSTANT = 8 };
    const struct query_table *table = ((const struct query_table_seen *)base)->table;
    double rows = (double)table->count + 1, visited = rows;
    int columns = 0;
    for (int i = 0; i < info->nConstraint; i++) {
        const int column = info->aConstraint[i].iColumn;
        if (!is_equality(&info->aConstraint[i])) {
            continue;
        }
        if (!is_join(info, i)) {
            rows /= USUAL_CONSTANT;
        } else if (columns < KEY_COLUMNS) {
            info->aConstraintUsage[i].argvIndex = columns + 1;
            info->idxNum |= (column + 1) << COLUMN_BITS * columns;
            rows /= divide_rows(table, column);
            visited /= divide_rows(table, column);
            columns++;
        }
    }
    info->estimatedRows = rows < 1 ? 1 : (sqlite3_int64)rows;
    info->estimatedCost = visited + SEEK_COST;
    return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **out_cursor)
{
    struct query_cursor *cursor = alloc_new(sizeof(*cursor));
    if (!cursor) {
        return SQLITE_NOMEM;
    }
    cursor->table = ((struct query_table_seen *)base)->table;
    *out_cursor = &cursor->base;
    return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
    alloc_free(base);
    return SQLITE_OK;
}

static int is_at_end(sqlite3_vtab_cursor *base)
{
    const struct query_cursor *cursor = (const struct query_cursor *)base;
    return cursor->key ? cursor->at == 0 : cursor->part == cursor->table->part_count;
}

// Parts without rows are passed over.
static void skip_empty(struct query_cursor *cursor)
{
    const struct query_table *table = cursor->table;
    while (cursor->part < table->part_count &&
           cursor->row >= query_rows_count(table->parts[cursor->part])) {
        cursor->part++;
        cursor->row = 0;
    }
}

static void skip_others(struct query_cursor *cursor)
{
    while (cursor->at != 0 && cursor->key->hashes[cursor->at] != cursor->hash) {
        cursor->at = cursor->key->next[cursor->at];
    }
    if (cursor->at != 0) {
        cursor->part = find_part(cursor->table, cursor->at - 1);
        cursor->row = cursor->at - 1 - cursor->table->firsts[cursor->part];
    }
}

static int next(sqlite3_vtab_cursor *base)
{
    struct query_cursor *cursor = (struct query_cursor *)base;
    if (cursor->key) {
        cursor->at = cursor->key->next[cursor->at];
        skip_others(cursor);
    } else {
        cursor->row++;
        skip_empty(cursor);
    }
    return SQLITE_OK;
}

static struct query_value take_value(sqlite3_value *from)
{
    switch (sqlite3_value_type(from)) {
    case SQLITE_INTEGER:
        return (struct query_value){.type = QUERY_INTEGER, .integer = sqlite3_value_int64(from)};
    case SQLITE_FLOAT:
        return (struct query_value){.type = QUERY_REAL, .real = sqlite3_value_double(from)};
    case SQLITE_NULL:
        return (struct query_value){.type = QUERY_NULL};
    default:
        return (struct query_value){.type = QUERY_TEXT,
                                    .text = sqlite3_value_blob(from),
                                    .bytes = (size_t)sqlite3_value_bytes(from)};
    }
}

// Whether a value can be found by its hash. Where a number meets a text, SQLite may make one of
// the other before it compares them, so that their hashes say nothing.
static int is_found_by_hash(const struct key *key, int at, const struct query_value *value)
{
    return is_number(value) ? !key->has_texts[at] : !key->has_numbers[at];
}

// Begins with the rows that have these values in the columns of a key.
static int seek(struct query_cursor *cursor, int number, sqlite3_value **values)
{
    int columns[KEY_COLUMNS];
    const struct key *key = NULL;
    uint64_t hash = 0;
    for (int i = 0; i < KEY_COLUMNS; i++) {
        columns[i] = (number >> COLUMN_BITS * i & ((1 << COLUMN_BITS) - 1)) - 1;
    }
    const int code = find_key(cursor->table, columns, &key);
    if (code != SQLITE_OK || !key) {
        return code;
    }
    for (int i = 0; i < KEY_COLUMNS && columns[i] != NONE; i++) {
        const struct query_value value = take_value(values[i]);
        if (value.type != QUERY_NULL && !is_found_by_hash(key, i, &value)) {
            return SQLITE_OK; // All rows are visited.
        }
        if (value.type == QUERY_NULL) {
            cursor->key = key;
            cursor->at = 0;
            return SQLITE_OK;
        }
        hash = hash_value(hash, &value);
    }
    cursor->key = key;
    cursor->hash = (uint32_t)(hash ^ hash >> 32);
    cursor->at = key->heads[cursor->hash & (key->head_count - 1)];
    skip_others(cursor);
    return SQLITE_OK;
}

static int
filter(sqlite3_vtab_cursor *base, int number, const char *name, int count, sqlite3_value **values)
{
    struct query_cursor *cursor = (struct query_cursor *)base;
    (void)name;
    (void)count;
    cursor->key = NULL;
    cursor->part = cursor->row = 0;
    skip_empty(cursor);
    return number != 0 ? seek(cursor, number, values) : SQLITE_OK;
}

static int read_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
    const struct query_cursor *cursor = (const struct query_cursor *)base;
    const struct query_value value =
        query_rows_value(cursor->table->parts[cursor->part], cursor->row, (size_t)column);
    switch (value.type) {
    case QUERY_INTEGER:
        sqlite3_result_int64(context, value.integer);
        break;
    case QUERY_REAL:
        sqlite3_result_double(context, value.real);
        break;
    case QUERY_TEXT:
        sqlite3_result_text64(context, value.text, value.bytes, SQLITE_STATIC, SQLITE_UTF8);
        break;
    case QUERY_BYTES:
        sqlite3_result_blob64(context, value.text, value.bytes, SQLITE_STATIC);
        break;
    case QUERY_NULL:
        break;
    }
    return SQLITE_OK;
}

static int read_number(sqlite3_vtab_cursor *base, sqlite3_int64 *out_number)
{
    const struct query_cursor *cursor = (const struct query_cursor *)base;
    *out_number =
        (sqlite3_int64)cursor->table->firsts[cursor->part] + (sqlite3_int64)cursor->row + 1;
    return SQLITE_OK;
}

// Never called where something refuses statements that write, as a query does, in its own words;
// without it SQLite would use others.
static int refuse(sqlite3_vtab *base, int count, sqlite3_value **values, sqlite3_int64 *out_number)
{
    (void)base;
    (void)count;
    (void)values;
    (void)out_number;
    return SQLITE_READONLY;
}

// Without xCreate: a table of this name is there without a statement that makes it.
static const sqlite3_module MODULE = {
    .iVersion = 1,
    .xConnect = connect,
    .xBestIndex = best_index,
    .xDisconnect = disconnect,
    .xOpen = open_cursor,
    .xClose = close_cursor,
    .xFilter = filter,
    .xNext = next,
    .xEof = is_at_end,
    .xColumn = read_column,
    .xRowid = read_number,
    .xUpdate = refuse,
};

// -- The table ---------------------------------------------------------------------------------

tapml_status query_table_create(sqlite3 *connection,
                                const struct query_view *view,
                                struct query_rows_budget *budget,
                                struct query_table **out_table)
{
    ASSERT(view->count > 0 && view->count <= QUERY_COLUMNS_MAX);
    struct query_table *table = alloc_new(sizeof(*table));
    if (!table) {
        return status_no_memory();
    }
    table->view = view;
    table->budget = budget;
    if (sqlite3_create_module_v2(connection, view->name, &MODULE, table, NULL) != SQLITE_OK) {
        alloc_free(table);
        return status_no_memory();
    }
    *out_table = table;
    return TAPML_OK;
}

void query_table_destroy(struct query_table *table)
{
    if (!table) {
        return;
    }
    for (size_t i = 0; i < table->part_count; i++) {
        query_rows_destroy(table->parts[i]);
    }
    for (size_t i = 0; i < table->key_count; i++) {
        free_key(&table->keys[i]);
    }
    (void)atomic_fetch_sub(&table->budget->taken, table->taken);
    alloc_free(table->parts);
    alloc_free(table->firsts);
    alloc_free(table);
}

tapml_status query_table_add(struct query_table *table, struct query_rows *rows)
{
    void *parts = table->parts, *firsts = table->firsts;
    ASSERT(table->key_count == 0); // None has been read.
    const int has_parts =
        alloc_grow(&parts, &table->part_capacity, table->part_count, sizeof(struct query_rows *));
    table->parts = parts;
    const int has_firsts =
        alloc_grow(&firsts, &table->first_capacity, table->part_count, sizeof(*table->firsts));
    table->firsts = firsts;
    if (!has_parts || !has_firsts) {
        query_rows_destroy(rows);
        return status_no_memory();
    }
    table->parts[table->part_count] = rows;
    table->firsts[table->part_count++] = table->count;
    table->count += query_rows_count(rows);
    return TAPML_OK;
}
