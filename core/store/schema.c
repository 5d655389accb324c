// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/schema.h"

#include "store/old_tables.h"

#include <string.h>

// Tables that stores behind OLD_TABLES_LAST did not all have, each with the first version that has
// it. They begin empty.
static const struct {
    const char *table;
    int64_t version;
} ADDED[] = {{"forecast", 5},      {"forecast_range", 5}, {"forecast_limit", 5},
             {"forecast_time", 5}, {"forecast_kind", 5},  {"measure", 7},
             {"feature", 8},       {"look", 9},           {"watched", 9},
             {"turned", 9},        {"looked", 9},         {"trial", 9},
             {"invariance", 9},    {"usage", 10},         {"stage", 10}};

// Tables that had fewer columns before a version; otherwise they stand as above.
static const struct {
    struct schema_table before;
    int64_t version;
} CHANGED[] = {
    {{"output_error",
      "CREATE TABLE output_error ("
      "  target TEXT NOT NULL,"
      "  case_id INTEGER NOT NULL,"
      "  position INTEGER NOT NULL,"
      "  param TEXT NOT NULL,"
      "  class TEXT NOT NULL DEFAULT '',"
      "  is_equal INTEGER NOT NULL DEFAULT 0,"
      "  ulp REAL,"
      "  nmse REAL,"
      "  row_error REAL,"
      "  non_finite INTEGER NOT NULL DEFAULT 0,"
      "  is_outside INTEGER NOT NULL DEFAULT 0,"
      "  place TEXT NOT NULL DEFAULT '',"
      "  expected REAL,"
      "  computed REAL,"
      "  margin REAL,"
      "  PRIMARY KEY (target, case_id, position),"
      "  FOREIGN KEY (target, case_id) REFERENCES result (target, case_id) ON DELETE CASCADE"
      ") WITHOUT ROWID",
      NULL},
     6},
};

const char *schema_added(int64_t version, size_t index)
{
    for (size_t i = 0; i < sizeof(ADDED) / sizeof(*ADDED); i++) {
        if (ADDED[i].version > version && index-- == 0) {
            return ADDED[i].table;
        }
    }
    return NULL;
}

static int has_table(int64_t version, const char *table)
{
    const char *added = NULL;
    for (size_t i = 0; (added = schema_added(version, i)) != NULL; i++) {
        if (strcmp(added, table) == 0) {
            return 0;
        }
    }
    return 1;
}

// For a person at a shell: what `judgement_make` (verify/judgement.h) makes of errors and limits.
// The host computes it itself.
static const char VIEW[] =
    "CREATE VIEW judged AS"
    " SELECT result.*, CASE WHEN outcome <> 'ran' THEN outcome WHEN margin IS NULL THEN 'skipped'"
    "   WHEN margin <= 1 THEN 'pass' ELSE 'fail' END AS verdict, margin, output"
    " FROM result LEFT JOIN ("
    "  SELECT target, case_id, max(margin) AS margin, param AS output FROM ("
    "   SELECT e.target, e.case_id, e.param, CASE WHEN is_outside OR non_finite > 0 THEN 9e999"
    "    WHEN class = 'exact' THEN iif(is_equal, 0.0, 9e999)"
    "    WHEN class = 'elementwise' THEN e.ulp / l.ulp"
    "    WHEN class = 'reduction' THEN max(e.nmse / l.nmse, e.row_error / l.row_error)"
    "    ELSE e.margin END AS margin"
    "   FROM output_error AS e JOIN result AS r USING (target, case_id)"
    "    JOIN \"case\" AS c ON c.id = e.case_id"
    "    LEFT JOIN \"limit\" AS l ON l.op = c.op AND l.version = c.version"
    "     AND l.shape_class = c.shape_class AND l.param = e.param AND l.oracle = r.oracle"
    "   WHERE r.outcome = 'ran')"
    "  GROUP BY target, case_id) USING (target, case_id)";

const char *schema_view(void)
{
    return VIEW;
}

const struct schema_table *schema_find(const char *name)
{
    const struct schema_table *table = schema_tables_at(0);

    for (size_t i = 0; table != NULL && strcmp(table->name, name) != 0;) {
        table = schema_tables_at(++i);
    }
    return table;
}

// A table as it was in a version behind OLD_TABLES_LAST.
static const struct schema_table *table_of(int64_t version, const struct schema_table *table)
{
    for (size_t i = 0; i < sizeof(CHANGED) / sizeof(*CHANGED); i++) {
        if (version < CHANGED[i].version && strcmp(CHANGED[i].before.name, table->name) == 0) {
            return &CHANGED[i].before;
        }
    }
    return table;
}

int schema_make(sqlite3 *connection, int64_t version)
{
    const struct schema_table *now = NULL;
    int code = SQLITE_OK;

    for (size_t i = 0; code == SQLITE_OK && (now = schema_tables_at(i)) != NULL; i++) {
        const struct schema_table *table = table_of(version, now);

        if (!has_table(version, table->name)) {
            continue;
        }
        code = sqlite3_exec(connection, table->table, NULL, NULL, NULL);
        if (code == SQLITE_OK && table->indices) {
            code = sqlite3_exec(connection, table->indices, NULL, NULL, NULL);
        }
    }
    return code == SQLITE_OK ? sqlite3_exec(connection, VIEW, NULL, NULL, NULL) : code;
}

// Each object with the statement that made it. SQLite makes an index without a statement for each
// key, and tables of statistics where somebody asked it to analyse.
static const char OBJECTS[] =
    "SELECT type || ' ' || name || ' ' || coalesce(sql, '') FROM main.sqlite_schema"
    " WHERE NOT (type = 'index' AND sql IS NULL)"
    " AND NOT (type = 'table' AND name IN ('sqlite_sequence', 'sqlite_stat1', 'sqlite_stat4'))"
    " ORDER BY type, name";

static int compare_rows(sqlite3_stmt *ours, sqlite3_stmt *theirs, int *out_is_same)
{
    for (;;) {
        const int our_code = sqlite3_step(ours);
        const int code = sqlite3_step(theirs);
        if (code != SQLITE_ROW && code != SQLITE_DONE) {
            return code;
        }
        *out_is_same = code == our_code;
        if (!*out_is_same || code == SQLITE_DONE) {
            return SQLITE_OK;
        }
        const unsigned char *our_text = sqlite3_column_text(ours, 0);
        const unsigned char *text = sqlite3_column_text(theirs, 0);
        if (!our_text || !text) {
            return SQLITE_NOMEM;
        }
        *out_is_same = strcmp((const char *)our_text, (const char *)text) == 0;
        if (!*out_is_same) {
            return SQLITE_OK;
        }
    }
}

static int compare_objects(sqlite3 *model, sqlite3 *connection, int64_t version, int *out_is_same)
{
    sqlite3_stmt *ours = NULL;
    sqlite3_stmt *theirs = NULL;
    const char *text = old_tables_find(version);
    int code = text ? sqlite3_exec(model, text, NULL, NULL, NULL) : schema_make(model, version);
    if (code == SQLITE_OK) {
        code = sqlite3_prepare_v2(model, OBJECTS, -1, &ours, NULL);
    }
    if (code == SQLITE_OK) {
        code = sqlite3_prepare_v2(connection, OBJECTS, -1, &theirs, NULL);
    }
    if (code == SQLITE_OK) {
        code = compare_rows(ours, theirs, out_is_same);
    }
    (void)sqlite3_finalize(ours); // Repeat the code of their last step.
    (void)sqlite3_finalize(theirs);
    return code;
}

int schema_compare(sqlite3 *connection, int64_t version, int *out_is_same)
{
    sqlite3 *model = NULL;
    int code = sqlite3_open_v2(":memory:", &model, SQLITE_OPEN_READWRITE, NULL);
    if (code == SQLITE_OK) {
        code = compare_objects(model, connection, version, out_is_same);
    }
    (void)sqlite3_close(model); // Its one statement is finalized.
    return code;
}
