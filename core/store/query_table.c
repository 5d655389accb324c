// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/query_table.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/table.h"
#include "base/text.h"
#include "store/query_lists.h"

#include <sqlite3.h>
#include <string.h>

// RUN is by convention the first column, which says the same in all rows of a part.
enum { RUN = 0, RUNS_MAX = 2, KEYS_MAX = 16, SEEK_COST = 4 };

// How a number that SQLite keeps says which conditions a cursor is to meet: columns of a key, each
// as its number + 1, and above them how many values of a run stand before those of the key.
enum { COLUMN_BITS = 8, RUNS_AT = QUERY_LISTS_COLUMNS * COLUMN_BITS };

// A run is known by the number of the first part of it; or it is
#define ANY_RUN     SIZE_MAX       // one that is not known, or
#define ANOTHER_RUN (SIZE_MAX - 1) // one that no part is of.

// Columns by which rows are found.
struct key {
    int columns[QUERY_LISTS_COLUMNS];
    struct query_lists *lists; // Of each part, and behind them of all rows: made when asked for.
};

// What was added at once.
struct part {
    struct query_rows *rows;
    size_t run;  // ANY_RUN: its rows have not one text there.
    size_t last; // Of a part that is the first of its run: the last one of it.
};

struct query_table {
    const struct query_view *view;
    struct query_rows_budget *budget;
    struct part *parts;
    struct query_lists_part *listed; // The same parts, for lists.
    size_t part_count, part_capacity, listed_capacity;
    size_t count;
    struct table runs;    // By their texts.
    int has_unknown_runs; // Of a part.
    uint64_t taken;       // Of the budget, by keys.
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
    size_t part, row; // Where it is, the row within its part; behind the last part at the end.
    size_t run, end;  // Parts of another run are passed over, and those from `end` on.
    struct key *key;  // NULL: all rows are visited.
    struct query_lists_search search;
    const struct query_lists *lists; // NULL: all rows of this part are visited.
    int has_all;                     // They are those of all rows.
    uint32_t at;                     // In them.
};

// -- Rows and keys -----------------------------------------------------------------------------

// The part that a row is in.
static size_t find_part(const struct query_table *table, size_t row)
{
    size_t low = 0, high = table->part_count;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        *(table->listed[middle].first <= row ? &low : &high) = middle;
    }
    return low;
}

// What keys take SQLite does not have any more, where it has a limit (store/query.h).
static void lower_limit(uint64_t bytes)
{
    const sqlite3_int64 limit = sqlite3_hard_heap_limit64(-1);
    if (limit > 0) {
        (void)sqlite3_hard_heap_limit64((uint64_t)limit > bytes ? limit - (sqlite3_int64)bytes : 1);
    }
}

// Lists of a part, or of all rows if `part` is behind the last. NULL with SQLITE_OK: there are
// none, since there are too many rows.
static int find_lists(struct query_table *table,
                      const struct key *key,
                      size_t part,
                      const struct query_lists **out_lists)
{
    const int is_all = part == table->part_count;
    struct query_lists *lists = &key->lists[part];
    const uint64_t taken = table->taken;
    *out_lists = NULL;
    if (table->count >= UINT32_MAX) {
        return SQLITE_OK;
    }
    if (!lists->is_made &&
        query_lists_make(&table->listed[is_all ? 0 : part], is_all ? table->part_count : 1,
                         key->columns, table->budget, &table->taken, lists) != TAPML_OK) {
        return SQLITE_NOMEM;
    }
    lower_limit(table->taken - taken);
    *out_lists = lists;
    return SQLITE_OK;
}

static int make_key(struct query_table *table, const int columns[QUERY_LISTS_COLUMNS])
{
    struct key *key = &table->keys[table->key_count];
    const uint64_t bytes = (table->part_count + 1) * sizeof(*key->lists);
    (void)memcpy(key->columns, columns, sizeof(key->columns));
    table->taken += bytes;
    key->lists = query_rows_take(table->budget, bytes) == TAPML_OK
                     ? alloc_array(table->part_count + 1, sizeof(*key->lists))
                     : NULL;
    table->key_count += key->lists != NULL;
    lower_limit(bytes);
    return key->lists ? SQLITE_OK : SQLITE_NOMEM;
}

// NULL with SQLITE_OK: there is none, since there are too many.
static int
find_key(struct query_table *table, const int columns[QUERY_LISTS_COLUMNS], struct key **out_key)
{
    *out_key = NULL;
    for (size_t i = 0; i < table->key_count; i++) {
        if (memcmp(table->keys[i].columns, columns, sizeof(int) * QUERY_LISTS_COLUMNS) == 0) {
            *out_key = &table->keys[i];
            return SQLITE_OK;
        }
    }
    if (table->key_count == KEYS_MAX) {
        return SQLITE_OK;
    }
    const int code = make_key(table, columns);
    *out_key = code == SQLITE_OK ? &table->keys[table->key_count - 1] : NULL;
    return code;
}

static void free_key(const struct query_table *table, struct key *key)
{
    for (size_t i = 0; i <= table->part_count; i++) {
        query_lists_release(&key->lists[i]);
    }
    alloc_free(key->lists);
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

// Whether a condition is that a column is equal to something, letter by letter.
static int is_equality(sqlite3_index_info *info, int at)
{
    const struct sqlite3_index_constraint *condition = &info->aConstraint[at];
    return condition->usable && condition->op == SQLITE_INDEX_CONSTRAINT_EQ &&
           condition->iColumn >= 0 && strcmp(sqlite3_vtab_collation(info, at), "BINARY") == 0;
}

// Whether that is what another table has, and not a constant or one of a list: then looking at all
// rows once costs less than a key.
static int is_join(sqlite3_index_info *info, int at)
{
    sqlite3_value *constant = NULL;
    return sqlite3_vtab_rhs_value(info, at, &constant) != SQLITE_OK &&
           !sqlite3_vtab_in(info, at, -1);
}

// What is chosen so far, and what it comes to.
struct index_choice {
    int runs, columns;
    double rows, visited;
};

// Parts of other runs are passed over, whatever the run is equal to.
static void choose_runs(sqlite3_index_info *info, double parts, struct index_choice *choice)
{
    for (int i = 0; i < info->nConstraint && choice->runs < RUNS_MAX; i++) {
        if (is_equality(info, i) && info->aConstraint[i].iColumn == RUN) {
            info->aConstraintUsage[i].argvIndex = ++choice->runs;
            choice->rows /= parts;
            choice->visited /= parts;
        }
    }
}

// How many rows have the same value is not known.
static void choose_columns(sqlite3_index_info *info, struct index_choice *choice)
{
    enum { USUAL = 500, USUAL_CONSTANT = 8 };
    for (int i = 0; i < info->nConstraint; i++) {
        const int column = info->aConstraint[i].iColumn;
        if (!is_equality(info, i) || column == RUN) {
            continue;
        }
        if (!is_join(info, i)) {
            choice->rows /= USUAL_CONSTANT;
        } else if (choice->columns < QUERY_LISTS_COLUMNS) {
            info->aConstraintUsage[i].argvIndex = choice->runs + choice->columns + 1;
            info->idxNum |= (column + 1) << COLUMN_BITS * choice->columns++;
            choice->rows /= USUAL;
            choice->visited /= USUAL;
        }
    }
}

static int best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
    const struct query_table *table = ((const struct query_table_seen *)base)->table;
    const double rows = (double)table->count + 1;
    struct index_choice choice = {.rows = rows, .visited = rows};
    choose_runs(info, (double)table->part_count + 1, &choice);
    choose_columns(info, &choice);
    info->idxNum |= choice.runs << RUNS_AT;
    info->estimatedRows = choice.rows < 1 ? 1 : (sqlite3_int64)choice.rows;
    info->estimatedCost = choice.visited + SEEK_COST;
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
    return cursor->part == cursor->table->part_count;
}

// Takes the place of what was found in the lists; 0: nothing was.
static int take_found(struct query_cursor *cursor, uint32_t at)
{
    const struct query_table *table = cursor->table;
    cursor->at = at;
    if (at == 0) {
        return 0;
    }
    cursor->part = cursor->has_all ? find_part(table, at - 1) : cursor->part;
    cursor->row = at - 1 - (cursor->has_all ? table->listed[cursor->part].first : 0);
    return 1;
}

// Begins with the lists of a part, or of all rows. Without lists in which it can be found all rows
// are visited.
static int open_lists(struct query_cursor *cursor, size_t part)
{
    const struct query_lists *lists = NULL;
    const int code = cursor->key ? find_lists(cursor->table, cursor->key, part, &lists) : SQLITE_OK;
    cursor->lists =
        code == SQLITE_OK && lists && query_lists_can_find(lists, &cursor->search) ? lists : NULL;
    return code;
}

static int is_visited(const struct query_cursor *cursor)
{
    const size_t run = cursor->table->parts[cursor->part].run;
    return cursor->run == ANY_RUN || run == ANY_RUN || run == cursor->run;
}

// Goes to the first row that is wanted of this part or of those behind it.
static int begin_parts(struct query_cursor *cursor)
{
    const struct query_table *table = cursor->table;
    for (; cursor->part < cursor->end; cursor->part++) {
        if (!is_visited(cursor)) {
            continue;
        }
        const int code = open_lists(cursor, cursor->part);
        cursor->row = 0;
        if (code != SQLITE_OK ||
            (cursor->lists ? take_found(cursor, query_lists_first(cursor->lists, &cursor->search))
                           : query_rows_count(table->parts[cursor->part].rows) > 0)) {
            return code;
        }
    }
    cursor->part = table->part_count;
    return SQLITE_OK;
}

// Which parts may be of the run.
static void find_range(struct query_cursor *cursor)
{
    const struct query_table *table = cursor->table;
    cursor->part = 0;
    cursor->end = table->part_count;
    if (!table->has_unknown_runs && cursor->run != ANY_RUN) {
        const int is_none = cursor->run == ANOTHER_RUN;
        cursor->part = is_none ? table->part_count : cursor->run;
        cursor->end = is_none ? table->part_count : table->parts[cursor->run].last + 1;
    }
}

// If the run does not matter, one look into the lists of all rows takes the place of one for each
// part.
static int begin(struct query_cursor *cursor)
{
    const size_t end = cursor->table->part_count;
    cursor->end = end;
    cursor->lists = NULL;
    cursor->has_all = cursor->run == ANY_RUN && cursor->key;
    const int code = cursor->has_all ? open_lists(cursor, end) : SQLITE_OK;
    if (cursor->lists) {
        const uint32_t at = query_lists_first(cursor->lists, &cursor->search);
        cursor->part = take_found(cursor, at) ? cursor->part : end;
        return SQLITE_OK;
    }
    cursor->key = cursor->has_all ? NULL : cursor->key;
    cursor->has_all = 0;
    find_range(cursor);
    return code == SQLITE_OK ? begin_parts(cursor) : code;
}

static int next(sqlite3_vtab_cursor *base)
{
    struct query_cursor *cursor = (struct query_cursor *)base;
    const struct query_table *table = cursor->table;
    if (cursor->lists
            ? take_found(cursor, query_lists_next(cursor->lists, &cursor->search, cursor->at))
            : ++cursor->row < query_rows_count(table->parts[cursor->part].rows)) {
        return SQLITE_OK;
    }
    cursor->part = cursor->has_all ? cursor->end : cursor->part + 1;
    return begin_parts(cursor);
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

// Leaves the parts of a run. A number may be equal to any text (store/query_lists.h). Of a text
// that has a zero byte the begin counts, by which no part is missed: no run has one.
static void narrow(struct query_cursor *cursor, sqlite3_value *value)
{
    const int type = sqlite3_value_type(value);
    const char *text = type == SQLITE_TEXT ? (const char *)sqlite3_value_text(value) : NULL;
    size_t run = ANOTHER_RUN;
    if (text) {
        (void)table_find(&cursor->table->runs, text, &run);
    }
    if (text || type == SQLITE_NULL) {
        cursor->run = cursor->run == ANY_RUN || cursor->run == run ? run : ANOTHER_RUN;
    }
}

static int
filter(sqlite3_vtab_cursor *base, int number, const char *name, int count, sqlite3_value **values)
{
    struct query_cursor *cursor = (struct query_cursor *)base;
    const int runs = number >> RUNS_AT;
    int columns[QUERY_LISTS_COLUMNS];
    (void)name;
    cursor->key = NULL;
    cursor->run = ANY_RUN;
    cursor->search = (struct query_lists_search){.count = 0};
    for (int i = 0; i < runs; i++) {
        narrow(cursor, values[i]);
    }
    for (int i = 0; i < QUERY_LISTS_COLUMNS; i++) {
        columns[i] = (number >> COLUMN_BITS * i & ((1 << COLUMN_BITS) - 1)) - 1;
    }
    for (int i = runs; i < count; i++) {
        const struct query_value value = take_value(values[i]);
        if (!query_lists_search_for(&cursor->search, &value)) {
            cursor->part = cursor->table->part_count; // Nothing is equal to NULL.
            return SQLITE_OK;
        }
    }
    const int code = count > runs ? find_key(cursor->table, columns, &cursor->key) : SQLITE_OK;
    return code == SQLITE_OK ? begin(cursor) : code;
}

static int read_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
    const struct query_cursor *cursor = (const struct query_cursor *)base;
    const struct query_value value =
        query_rows_value(cursor->table->parts[cursor->part].rows, cursor->row, (size_t)column);
    switch (value.type) {
    case QUERY_INTEGER:
        sqlite3_result_int64(context, value.integer);
        break;
    case QUERY_REAL:
        sqlite3_result_double(context, value.real);
        break;
    case QUERY_TEXT: // SQLite copies what it has not measured itself, to put a zero byte behind it.
        if (strlen(value.text) == value.bytes) {
            sqlite3_result_text(context, value.text, -1, SQLITE_STATIC);
        } else {
            sqlite3_result_text64(context, value.text, value.bytes, SQLITE_STATIC, SQLITE_UTF8);
        }
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
        (sqlite3_int64)cursor->table->listed[cursor->part].first + (sqlite3_int64)cursor->row + 1;
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
    table_init(&table->runs);
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
    for (size_t i = 0; i < table->key_count; i++) {
        free_key(table, &table->keys[i]);
    }
    for (size_t i = 0; i < table->part_count; i++) {
        query_rows_destroy(table->parts[i].rows);
    }
    (void)atomic_fetch_sub(&table->budget->taken, table->taken);
    table_release(&table->runs);
    alloc_free(table->parts);
    alloc_free(table->listed);
    alloc_free(table);
}

// The text that all rows have as their run, or NULL.
static const char *find_run(const struct query_rows *rows)
{
    struct query_value first = {.type = QUERY_NULL};
    for (size_t i = 0; i < query_rows_count(rows); i++) {
        const struct query_value value = query_rows_value(rows, i, RUN);
        first = i == 0 ? value : first;
        if (value.type != QUERY_TEXT || value.bytes != first.bytes ||
            (value.text != first.text && memcmp(value.text, first.text, first.bytes) != 0)) {
            return NULL;
        }
    }
    return first.type == QUERY_TEXT && strlen(first.text) == first.bytes ? first.text : NULL;
}

// Sets the run of the part behind the last one.
static tapml_status find_first(struct query_table *table, const char *run, struct part *part)
{
    part->run = ANY_RUN;
    if (!run || table_find(&table->runs, run, &part->run)) {
        return TAPML_OK;
    }
    part->run = table->part_count;
    return table_set(&table->runs, run, part->run);
}

// Makes room for one more part.
static tapml_status grow(struct query_table *table)
{
    void *parts = table->parts, *listed = table->listed;
    const size_t count = table->part_count;
    const int has_parts = alloc_grow(&parts, &table->part_capacity, count, sizeof(*table->parts));
    const int has_listed =
        alloc_grow(&listed, &table->listed_capacity, count, sizeof(*table->listed));
    table->parts = parts;
    table->listed = listed;
    return has_parts && has_listed ? TAPML_OK : status_no_memory();
}

tapml_status query_table_add(struct query_table *table, struct query_rows *rows)
{
    const size_t at = table->part_count;
    struct part part = {.rows = rows, .last = at};
    ASSERT(table->key_count == 0); // None has been read.
    tapml_status status = grow(table);
    if (status == TAPML_OK) {
        status = find_first(table, find_run(rows), &part);
    }
    if (status != TAPML_OK) {
        query_rows_destroy(rows);
        return status;
    }
    table->parts[at] = part;
    table->listed[at] = (struct query_lists_part){rows, table->count};
    table->part_count++;
    table->count += query_rows_count(rows);
    if (part.run == ANY_RUN) {
        table->has_unknown_runs |= query_rows_count(rows) > 0;
    } else {
        table->parts[part.run].last = at;
    }
    return TAPML_OK;
}
