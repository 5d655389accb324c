// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// docs/store.md is the manual of these tables: every table and column is in it, nothing else is,
// and its questions can be asked.
#include "base/alloc.h"
#include "base/file.h"
#include "base/text.h"
#include "harness/scratch.h"
#include "store/old_tables.h"
#include "store/schema.h"
#include "store/store.h"
#include "store/store_open.h"

enum { DOCUMENT_BYTES_MAX = 1 << 20 };

static struct scratch scratch;
static struct store *store;
static char *document;

static void begin(void)
{
    size_t size = 0;
    scratch_make(&scratch);
    cr_assert_eq(store_open(scratch_path(&scratch, "a.tapmlrun"), 1, &store), TAPML_OK);
    const char *path = scratch_source("docs/store.md");
    cr_assert_eq(file_read(path, DOCUMENT_BYTES_MAX, &document, &size), TAPML_OK);
}

static void end(void)
{
    alloc_free(document);
    store_close(store);
    scratch_remove(&scratch);
}

TestSuite(schema, .init = begin, .fini = end);

// "fact: name value\n..." of the file, in the order in which tables and columns are made.
static void tables_of_store(struct text *out)
{
    static const char SQL[] = "SELECT m.name, group_concat(c.name, ' ') FROM sqlite_schema AS m,"
                              " pragma_table_info(m.name) AS c"
                              " WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%' GROUP BY "
                              "m.name ORDER BY m.rootpage";
    sqlite3_stmt *statement = NULL;
    cr_assert_eq(sqlite3_prepare_v2(store_connection(store), SQL, -1, &statement, NULL), SQLITE_OK);
    while (sqlite3_step(statement) == SQLITE_ROW) {
        text_format(out, "%s: %s\n", (const char *)sqlite3_column_text(statement, 0),
                    (const char *)sqlite3_column_text(statement, 1));
    }
    sqlite3_finalize(statement);
}

// The same of the document: "### fact" begins a table, "| name | ..." is a column.
static void tables_of_document(struct text *out)
{
    char *rest = document;
    int is_table = 0;
    char name[64];
    for (char *line = strsep(&rest, "\n"); line; line = strsep(&rest, "\n")) {
        if (strncmp(line, "## ", 3) == 0) {
            is_table = strcmp(line, "## Tables") == 0;
        }
        if (!is_table) {
            continue;
        }
        if (sscanf(line, "### %63s", name) == 1) {
            text_format(out, "%s%s:", out->length > 0 ? "\n" : "", name);
        } else if (sscanf(line, "| %63[a-z0-9_]", name) == 1 && strcmp(name, "column") != 0) {
            text_format(out, " %s", name);
        }
    }
    text_append(out, "\n");
}

Test(schema, document_has_every_table_and_column)
{
    struct text found;
    struct text documented;
    text_init(&found);
    text_init(&documented);
    tables_of_store(&found);
    tables_of_document(&documented);
    cr_assert_not_null(strstr(found.data, "step: id target step"), "%s", found.data);
    cr_expect_str_eq(documented.data, found.data);
    text_release(&found);
    text_release(&documented);
}

Test(schema, questions_of_the_document_can_be_asked)
{
    int questions = 0;
    for (char *at = strstr(document, "```sql\n"); at; at = strstr(at, "```sql\n")) {
        at += strlen("```sql\n");
        char *close = strstr(at, "```");
        cr_assert_not_null(close);
        *close = 0;
        char *message = NULL;
        const int code = sqlite3_exec(store_connection(store), at, NULL, NULL, &message);
        cr_expect_eq(code, SQLITE_OK, "%s: %s", at, message);
        sqlite3_free(message);
        at = close + 1;
        questions++;
    }
    cr_assert_geq(questions, 5);
}

Test(schema, header_says_what_the_file_is)
{
    sqlite3_stmt *statement = NULL;
    cr_assert_eq(
        sqlite3_prepare_v2(store_connection(store), "PRAGMA application_id", -1, &statement, NULL),
        SQLITE_OK);
    cr_assert_eq(sqlite3_step(statement), SQLITE_ROW);
    cr_assert_eq(sqlite3_column_int(statement, 0), SCHEMA_APPLICATION_ID);
    sqlite3_finalize(statement);
    cr_assert_not_null(strstr(document, "0x5461704d"));
}

Test(schema, is_sql_that_runs_once)
{
    cr_assert_neq(schema_make(store_connection(store), STORE_VERSION), SQLITE_OK);
}

static int is_same_after(const char *sql)
{
    int is_same = -1;
    char *message = NULL;
    const int code = sqlite3_exec(store_connection(store), sql, NULL, NULL, &message);
    cr_assert_eq(code, SQLITE_OK, "%s: %s", sql, message);
    cr_assert_eq(schema_compare(store_connection(store), STORE_VERSION, &is_same), SQLITE_OK);
    return is_same;
}

// The store's connection is defensive; a stranger's is not.
static void allow_all(void)
{
    (void)sqlite3_db_config(store_connection(store), SQLITE_DBCONFIG_DEFENSIVE, 0, NULL);
}

Test(schema, what_sqlite_adds_is_no_difference)
{
    cr_assert_eq(is_same_after(""), 1);
    cr_assert_eq(is_same_after("INSERT INTO metadata VALUES ('a', 'b'); ANALYZE;"), 1);
    cr_assert_eq(is_same_after("VACUUM;"), 1);
}

Test(schema, foreign_objects_are_seen)
{
    static const char *const wrong[] = {
        "CREATE VIEW v AS SELECT * FROM metadata",
        "CREATE TRIGGER t AFTER INSERT ON metadata BEGIN DELETE FROM metadata; END",
        "CREATE TABLE sqlitex (a)",
        "CREATE INDEX i ON metadata (hex(value))",
        "DROP TABLE step",
        "ALTER TABLE metadata ADD COLUMN c AS (hex(value))",
        ("PRAGMA writable_schema = 1; UPDATE sqlite_schema SET name = 'sqlite_t' WHERE name = "
         "'metadata'"),
    };
    allow_all();
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        cr_assert_eq(is_same_after("SAVEPOINT s"), 1);
        cr_expect_eq(is_same_after(wrong[i]), 0, "%s", wrong[i]);
        cr_assert_eq(is_same_after("ROLLBACK TO s; RELEASE s"), 1);
    }
}

// A version that lacks a table or a column is another one.
Test(schema, tables_that_were_added_or_changed_have_their_version)
{
    int is_same = -1;
    sqlite3 *old = NULL;
    cr_assert_eq(sqlite3_open(":memory:", &old), SQLITE_OK);
    for (int64_t version = OLD_TABLES_LAST + 1; version < STORE_VERSION; version++) {
        cr_assert_eq(sqlite3_close(old), SQLITE_OK);
        cr_assert_eq(sqlite3_open(":memory:", &old), SQLITE_OK);
        cr_assert_eq(schema_make(old, version), SQLITE_OK);
        for (int64_t other = OLD_TABLES_LAST + 1; other <= STORE_VERSION; other++) {
            cr_assert_eq(schema_compare(old, other, &is_same), SQLITE_OK);
            cr_expect_eq(is_same, other == version);
        }
    }
    cr_assert_eq(sqlite3_close(old), SQLITE_OK);
    cr_assert_eq(schema_compare(store_connection(store), STORE_VERSION - 1, &is_same), SQLITE_OK);
    cr_assert_eq(is_same, 0);
}

Test(schema, a_failure_of_sqlite_is_reported)
{
    int is_same = 0;
    sqlite3 *none = NULL;
    const char *path =
        scratch_text(&scratch, "none", "this is no database, only a text that is long enough");
    cr_assert_eq(sqlite3_open_v2(path, &none, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    cr_assert_eq(schema_compare(none, STORE_VERSION, &is_same), SQLITE_NOTADB);
    sqlite3_close(none);
}
