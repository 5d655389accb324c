// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/salvage_rows.h"

#include "base/assert.h"
#include "base/text.h"
#include "store/row.h"
#include "store/store.h"

enum {
    STEP_BYTES = 16 << 20, // That are written in one transaction.
    PROBES_MAX = 1 << 16,  // Into a gap of one table.
};

// Rows lie in the file by their key. Where that is no number, the rows before and behind all pages
// that are damaged are read, and none between two of these.
struct table_spec {
    const char *name, *key;
    int is_number;
    int is_indexed; // The rows have indices beside them, which may be damaged.
};

static const struct table_spec TABLES[] = {
    {"metadata", "name", 0, 0},       {"run", "id", 0, 0},         {"prompt", "hash", 0, 0},
    {"tensor", "rowid", 1, 1},        {"weight", "name", 0, 0},    {"\"case\"", "id", 1, 1},
    {"argument", "case_id", 1, 0},    {"page", "case_id", 1, 0},   {"call", "id", 1, 1},
    {"statistic", "call_id", 1, 0},   {"result", "target", 0, 0},  {"element", "target", 0, 0},
    {"output_error", "target", 0, 0}, {"\"limit\"", "op", 0, 0},   {"step", "id", 1, 1},
    {"target", "name", 0, 0},         {"offload", "target", 0, 0}, {"blame", "target", 0, 0},
    {"measure", "target", 0, 0},      {"timing", "target", 0, 0},  {"look", "id", 1, 0},
    {"watched", "target", 0, 0},      {"turned", "id", 1, 0},      {"looked", "look", 1, 0},
    {"trial", "key", 0, 0},           {"usage", "run", 0, 0},
};

struct copying {
    struct store *from, *to;
    int64_t step_bytes; // Written in this transaction.
    int probes;         // Left into the gaps of this table.
};

// One way through a table, as far as it goes.
struct reading {
    const struct table_spec *spec;
    int64_t low, high; // Keys, both included.
    int is_down;
    int is_whole;
    int has_last;
    int64_t last; // Key that was read.
};

static tapml_status
note_gap(struct copying *copying, const struct table_spec *spec, int64_t low, int64_t high)
{
    struct row row;
    TAPML_TRY(row_begin(copying->to, "INSERT INTO gap VALUES (?, ?, ?)", "noting a gap", &row));
    row_put_text(&row, spec->name);
    row_put_i64(&row, low);
    row_put_i64(&row, high);
    return row_run(&row);
}

static tapml_status end_transaction(struct copying *copying, int64_t bytes)
{
    copying->step_bytes += bytes;
    if (copying->step_bytes < STEP_BYTES) {
        return TAPML_OK;
    }
    copying->step_bytes = 0;
    TAPML_TRY(store_commit(copying->to));
    return store_begin(copying->to);
}

// Column 0 is the key.
static tapml_status put_row(struct copying *copying, struct reading *reading, struct row *from)
{
    const int columns = row_columns(from) - 1;
    struct row row;
    struct text sql;
    int64_t bytes = 0;
    text_init(&sql);
    text_format(&sql, "INSERT OR IGNORE INTO %s VALUES (?", reading->spec->name);
    for (int i = 1; i < columns; i++) {
        text_append(&sql, ", ?");
    }
    text_append(&sql, ")");
    tapml_status status = text_status(&sql);
    if (status == TAPML_OK) {
        status = row_begin(copying->to, sql.data, "taking over a row", &row);
    }
    text_release(&sql);
    TAPML_TRY(status);
    for (int i = 1; i <= columns && row.code == SQLITE_OK; i++) {
        row_put_column(&row, from, i);
        bytes += sqlite3_column_bytes(from->statement, i);
    }
    TAPML_TRY(row_run(&row));
    if (sqlite3_changes(store_connection(copying->to)) == 0) { // No row that a store could have.
        TAPML_TRY(note_gap(copying, reading->spec, row_i64(from, 0), row_i64(from, 0)));
    }
    return end_transaction(copying, bytes);
}

static tapml_status begin_reading(struct copying *copying, struct reading *reading, struct row *row)
{
    const struct table_spec *spec = reading->spec;
    struct text sql;
    text_init(&sql);
    text_format(&sql, "SELECT %s, * FROM %s%s", spec->key, spec->name,
                spec->is_indexed ? " NOT INDEXED" : "");
    if (spec->is_number) {
        text_format(&sql, " WHERE %s BETWEEN ? AND ?", spec->key);
    }
    text_format(&sql, " ORDER BY %s%s", spec->key, reading->is_down ? " DESC" : "");
    tapml_status status = text_status(&sql);
    if (status == TAPML_OK) {
        status = row_begin(copying->from, sql.data, "reading what is left", row);
    }
    text_release(&sql);
    TAPML_TRY(status);
    if (spec->is_number) {
        row_put_i64(row, reading->low);
        row_put_i64(row, reading->high);
    }
    return TAPML_OK;
}

// What the damaged store says is taken for what it is: no more of it is to be had this way.
static tapml_status stop(struct reading *reading, tapml_status status)
{
    reading->is_whole = status == TAPML_OK;
    return status == TAPML_NO_MEMORY ? status : TAPML_OK;
}

static tapml_status read_rows(struct copying *copying, struct reading *reading)
{
    struct row row;
    int has = 0;
    tapml_status status = begin_reading(copying, reading, &row);
    if (status != TAPML_OK) {
        return stop(reading, status);
    }
    for (;;) {
        status = row_next(&row, &has);
        if (status != TAPML_OK || !has) {
            return stop(reading, status);
        }
        reading->last = row_i64(&row, 0);
        reading->has_last = 1;
        status = put_row(copying, reading, &row);
        if (status != TAPML_OK) {
            row_end(&row);
            return status;
        }
    }
}

// Takes the rows from `low` to `high`: from both ends to the page that cannot be read, then the
// halves of what is between them. The keys around a gap are noted with it: rows beside them may be
// missing.
static tapml_status
take_between(struct copying *copying, const struct table_spec *spec, int64_t low, int64_t high)
{
    struct reading up = {.spec = spec, .low = low, .high = high};
    struct reading down = {.spec = spec, .low = low, .high = high, .is_down = 1};
    TAPML_TRY(read_rows(copying, &up));
    if (up.is_whole) {
        return TAPML_OK;
    }
    TAPML_TRY(read_rows(copying, &down));
    const int is_bounded = down.has_last || high < INT64_MAX;
    const int64_t begin = up.has_last ? up.last : low - 1;
    const int64_t end = down.has_last ? down.last : high < INT64_MAX ? high + 1 : high;
    if (!is_bounded || low == high || begin >= end - 1 || copying->probes == 0) {
        return note_gap(copying, spec, begin, end);
    }
    copying->probes--;
    TAPML_TRY(note_gap(copying, spec, begin, begin));
    TAPML_TRY(note_gap(copying, spec, end, end));
    const int64_t middle = begin + (end - begin) / 2;
    TAPML_TRY(take_between(copying, spec, begin + 1, middle));
    return middle + 1 < end ? take_between(copying, spec, middle + 1, end - 1) : TAPML_OK;
}

static tapml_status take_ends(struct copying *copying, const struct table_spec *spec)
{
    struct reading up = {.spec = spec};
    struct reading down = {.spec = spec, .is_down = 1};
    TAPML_TRY(read_rows(copying, &up));
    if (up.is_whole) {
        return TAPML_OK;
    }
    TAPML_TRY(note_gap(copying, spec, 0, 0));
    return read_rows(copying, &down);
}

tapml_status salvage_rows_copy(struct store *from, struct store *to)
{
    struct copying copying = {.from = from, .to = to};
    ASSERT(from != to);
    TAPML_TRY(store_execute(to,
                            "PRAGMA foreign_keys = OFF;"
                            "CREATE TEMP TABLE gap (name TEXT, low INTEGER, high INTEGER);",
                            "salvaging"));
    TAPML_TRY(store_begin(to));
    for (size_t i = 0; i < sizeof(TABLES) / sizeof(*TABLES); i++) {
        copying.probes = PROBES_MAX;
        TAPML_TRY(TABLES[i].is_number ? take_between(&copying, &TABLES[i], 1, INT64_MAX)
                                      : take_ends(&copying, &TABLES[i]));
    }
    return store_commit(to);
}
