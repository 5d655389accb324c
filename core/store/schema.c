// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/schema.h"

#include "base/assert.h"
#include "base/text.h"
#include "store/old_tables.h"
#include "store/store.h"

#include <pthread.h>
#include <string.h>

enum { PRINTED_BYTES_MAX = 1 << 16 };

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
    {{"usage",
      "CREATE TABLE usage ("
      "  run TEXT NOT NULL REFERENCES run (id),"
      "  place TEXT NOT NULL, device TEXT NOT NULL, driver TEXT NOT NULL,"
      "  rate REAL, currency TEXT NOT NULL,"
      "  began_s INTEGER NOT NULL, start_ns INTEGER,"
      "  held_ns INTEGER NOT NULL, busy_ns INTEGER NOT NULL, bytes INTEGER,"
      "  cases INTEGER NOT NULL, limits INTEGER NOT NULL,"
      "  cases_ns INTEGER NOT NULL, cases_busy_ns INTEGER NOT NULL,"
      "  calls_ns INTEGER NOT NULL, cases_bytes INTEGER NOT NULL,"
      "  PRIMARY KEY (run, place)) WITHOUT ROWID",
      NULL},
     11},
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

// Appends each object and a zero byte, so that no two lists of objects print the same.
static int print_rows(sqlite3_stmt *statement, struct text *out)
{
    for (;;) {
        const int code = sqlite3_step(statement);
        if (code != SQLITE_ROW) {
            return code == SQLITE_DONE ? SQLITE_OK : code;
        }
        const unsigned char *object = sqlite3_column_text(statement, 0);
        if (!object) {
            return SQLITE_NOMEM;
        }
        text_append_bytes(out, object, strlen((const char *)object) + 1);
    }
}

static int print_objects(sqlite3 *connection, struct text *out)
{
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(connection, OBJECTS, -1, &statement, NULL);
    code = code == SQLITE_OK ? print_rows(statement, out) : code;
    (void)sqlite3_finalize(statement); // Repeats the code of its last step.
    return code != SQLITE_OK || text_status(out) == TAPML_OK ? code : SQLITE_NOMEM;
}

// The objects that a store of `version` has: those of an empty one.
static int print_model(int64_t version, struct text *out)
{
    sqlite3 *model = NULL;
    const char *old = old_tables_find(version);
    int code = sqlite3_open_v2(":memory:", &model, SQLITE_OPEN_READWRITE, NULL);
    if (code == SQLITE_OK) {
        code = old ? sqlite3_exec(model, old, NULL, NULL, NULL) : schema_make(model, version);
    }
    code = code == SQLITE_OK ? print_objects(model, out) : code;
    (void)sqlite3_close(model); // Its one statement is finalized.
    return code;
}

// What print_model printed of STORE_VERSION: making it takes most of the time of opening a store.
static struct {
    char objects[PRINTED_BYTES_MAX];
    size_t bytes; // 0: it was not asked for yet.
} printed;
static pthread_mutex_t printed_lock = PTHREAD_MUTEX_INITIALIZER;

static int print_current(struct text *out)
{
    (void)pthread_mutex_lock(&printed_lock);
    int code = SQLITE_OK;
    if (printed.bytes > 0) {
        text_append_bytes(out, printed.objects, printed.bytes);
    } else {
        code = print_model(STORE_VERSION, out);
        if (code == SQLITE_OK) {
            ASSERT(out->length <= sizeof(printed.objects));
            (void)memcpy(printed.objects, out->data, out->length);
            printed.bytes = out->length;
        }
    }
    (void)pthread_mutex_unlock(&printed_lock);
    return code != SQLITE_OK || text_status(out) == TAPML_OK ? code : SQLITE_NOMEM;
}

int schema_compare(sqlite3 *connection, int64_t version, int *out_is_same)
{
    struct text ours, theirs;
    text_init(&ours);
    text_init(&theirs);
    int code = version == STORE_VERSION ? print_current(&ours) : print_model(version, &ours);
    code = code == SQLITE_OK ? print_objects(connection, &theirs) : code;
    *out_is_same = code == SQLITE_OK && theirs.length == ours.length &&
                   memcmp(theirs.data, ours.data, ours.length) == 0;
    text_release(&ours);
    text_release(&theirs);
    return code;
}
