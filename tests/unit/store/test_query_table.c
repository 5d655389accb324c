// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/query.h"
#include "store/query_table.h"

#include <criterion/criterion.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

static const struct query_column COLUMNS[] = {
    {"run", NULL, ""}, {"id", NULL, ""}, {"word", NULL, ""}, {"share", NULL, ""}};
static const struct query_view LEFT = {"l", NULL, "", COLUMNS, 4};
static const struct query_view RIGHT = {"r", NULL, "", COLUMNS, 4};

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

enum { ROWS = 300, PARTS = 4 };

static sqlite3 *connection;
static struct query_rows_budget budget;
static struct query_table *left, *right;

static tapml_status check(void *user)
{
    (void)user;
    return TAPML_OK;
}

// Values that meet others: numbers as integers, reals and texts, texts that differ in letters, and
// NULL.
static void get(const void *item, size_t column, struct query_value *out_value)
{
    static const char *const words[] = {"a", "A", "b", "7", "", NULL};
    const int number = *(const int *)item;
    *out_value = column == 0   ? query_text(number < ROWS ? "r1" : "r2")
                 : column == 1 ? query_integer(number % 37 - 3)
                 : column == 2 ? query_text(words[number % 6])
                 : number % 5  ? query_real(number % 11 - 3)
                               : query_integer(number % 11 - 3);
}

static void add(struct query_table *table, const struct query_view *view, int first, int count)
{
    int items[ROWS];
    struct query_rows *rows = NULL;
    for (int i = 0; i < count; i++) {
        items[i] = first + i;
    }
    MUST(query_rows_create(
        &(struct query_rows_options){
            .view = view, .columns = 0xf, .budget = &budget, .check = check},
        &rows));
    MUST(query_rows_add(rows, get, items, sizeof(*items), (size_t)count));
    MUST(query_table_add(table, rows));
}

static void execute(const char *sql)
{
    cr_assert_eq(sqlite3_exec(connection, sql, NULL, NULL, NULL), SQLITE_OK, "%s: %s", sql,
                 sqlite3_errmsg(connection));
}

static void begin(void)
{
    cr_assert_eq(sqlite3_open(":memory:", &connection), SQLITE_OK);
    MUST(query_table_create(connection, &LEFT, &budget, &left));
    MUST(query_table_create(connection, &RIGHT, &budget, &right));
}

static void end(void)
{
    (void)sqlite3_close(connection);
    query_table_destroy(left);
    query_table_destroy(right);
    cr_expect_eq(sqlite3_memory_used(), 0);
}

TestSuite(query_table, .init = begin, .fini = end, .timeout = 110);

static char *answer(const char *sql)
{
    static char all[256];
    sqlite3_stmt *statement = NULL;
    cr_assert_eq(sqlite3_prepare_v2(connection, sql, -1, &statement, NULL), SQLITE_OK, "%s: %s",
                 sql, sqlite3_errmsg(connection));
    cr_assert_eq(sqlite3_step(statement), SQLITE_ROW, "%s", sql);
    (void)snprintf(all, sizeof(all), "%s", (const char *)sqlite3_column_text(statement, 0));
    (void)sqlite3_finalize(statement);
    return all;
}

static void fill(void)
{
    for (int i = 0; i < PARTS; i++) {
        add(left, &LEFT, i * ROWS / 2, i == 1 ? 0 : ROWS / (i + 1));
        add(right, &RIGHT, i * 40, i == 3 ? 0 : 40);
    }
    add(left, &LEFT, ROWS - 20, 40); // Of two runs.
    add(right, &RIGHT, ROWS - 10, 20);
    add(right, &RIGHT, 2 * ROWS, 10);
}

// The same conditions over tables of SQLite's own, whose columns have no type either.
Test(query_table, a_join_says_what_one_of_tables_of_sqlite_says)
{
    static const char *const joins[] = {
        "l%s JOIN r%s USING (run, id)",
        "l%s JOIN r%s USING (word)",
        "l%s LEFT JOIN r%s USING (word, id, share, run)",
        "l%s AS a JOIN r%s AS b ON a.id = b.share",
        "l%s AS a JOIN r%s AS b ON a.share = b.share AND a.word = b.word",
        "l%s AS a JOIN r%s AS b ON a.id = b.word",
        "l%s AS a JOIN r%s AS b ON a.id = CAST(b.word AS INTEGER)",
        "l%s AS a JOIN r%s AS b ON a.word = CAST(b.id AS TEXT)",
        "l%s AS a JOIN r%s AS b ON a.word = CAST(b.id AS INTEGER)",
        "l%s AS a JOIN r%s AS b ON CAST(a.id AS TEXT) = b.id",
        "l%s AS a JOIN r%s AS b ON a.word = b.word COLLATE NOCASE",
        "l%s AS a JOIN r%s AS b ON a.word IS b.word",
        "l%s AS a JOIN r%s AS b ON a.id IN (b.id, b.share)",
        "l%s AS a JOIN r%s AS b ON a.id = b.id AND a.word = 'b' AND b.run IN ('r1', 'r2')",
        "l%s AS a JOIN r%s AS b ON a.id = b.id + 0.0",
        "l%s AS a, r%s AS b WHERE a.id = 7 AND b.word = '7'",
        "l%s NATURAL LEFT JOIN r%s",
        "l%s AS a JOIN r%s AS b ON a.run = b.run AND a.id = b.id AND a.run = 'r2'",
        "l%s AS a JOIN r%s AS b USING (id) WHERE a.run = (SELECT max(run) FROM r) AND b.run = 'r1'",
        "l%s AS a JOIN r%s AS b ON a.id = b.id AND b.run = a.run AND b.run = 'r' || a.share",
        "l%s AS a LEFT JOIN r%s AS b ON a.word = b.word AND b.run = 'r2'",
        "l%s AS a JOIN r%s AS b USING (run) WHERE run IN ('r1', 'r3', 'r2')",
        "l%s AS a JOIN r%s AS b ON a.run = b.run COLLATE NOCASE AND b.run = 'R1' COLLATE NOCASE",
        "l%s AS a JOIN r%s AS b ON a.id = b.id AND b.run <> 'r1' AND a.run IN (b.run, 'r1')",
        "l%s AS a JOIN r%s AS b ON a.run = CAST(b.run AS TEXT) AND a.run = 'r1'",
        "l%s AS a, r%s AS b WHERE a.run = CAST(b.run AS INTEGER) OR a.run = NULL",
        "l%s AS a LEFT JOIN r%s AS b ON a.run = 'r1' AND b.run = NULL AND b.id = a.id",
        "l%s AS a, r%s AS b WHERE a.run = 'r1' || char(0) AND b.run = x'7231'",
    };
    int some = 0;
    fill();
    execute("CREATE TABLE l2 (run, id, word, share); INSERT INTO l2 SELECT * FROM l;"
            "CREATE TABLE r2 (run, id, word, share); INSERT INTO r2 SELECT * FROM r;");
    for (size_t i = 0; i < sizeof(joins) / sizeof(*joins); i++) {
        char from[256], sql[512], expected[256];
        for (int is_ours = 0; is_ours < 2; is_ours++) {
            const char *suffix = is_ours ? "" : "2";
            (void)snprintf(from, sizeof(from), joins[i], suffix, suffix);
            (void)snprintf(sql, sizeof(sql), "SELECT count(*) FROM %s", from);
            if (is_ours) {
                cr_expect_str_eq(answer(sql), expected, "%s", from);
            } else {
                (void)snprintf(expected, sizeof(expected), "%s", answer(sql));
            }
        }
        some += strcmp(expected, "0") != 0;
    }
    cr_expect_eq(some, 24, "%d: a number is no text, but where a side is cast", some);
}

// What is found by a key comes in the order of the rows, as without one.
Test(query_table, keeps_the_order_of_rows)
{
    fill();
    cr_expect_str_eq(answer("SELECT group_concat(b.rowid) FROM (SELECT DISTINCT word FROM l WHERE"
                            " word = 'b') AS a JOIN r AS b USING (word)"),
                     answer("SELECT group_concat(rowid) FROM r WHERE word = 'b'"));
    cr_expect_str_eq(answer("SELECT count(*) || ' ' || sum(rowid) FROM r"), "150 11325");
}

Test(query_table, has_no_rows_before_they_come)
{
    cr_expect_str_eq(answer("SELECT count(*) FROM l JOIN r USING (run, id)"), "0");
    add(left, &LEFT, 0, 0);
    cr_expect_str_eq(answer("SELECT count(*) FROM l"), "0");
    cr_expect_neq(sqlite3_exec(connection, "INSERT INTO l VALUES (1, 2, 3, 4)", NULL, NULL, NULL),
                  SQLITE_OK);
}

Test(query_table, a_key_has_its_place_in_the_memory)
{
    sqlite3_stmt *statement = NULL;
    fill();
    budget.most = atomic_load(&budget.taken) + 100;
    cr_assert_eq(sqlite3_prepare_v2(connection, "SELECT count(*) FROM l JOIN r USING (id)", -1,
                                    &statement, NULL),
                 SQLITE_OK);
    cr_expect_eq(sqlite3_step(statement), SQLITE_NOMEM);
    (void)sqlite3_finalize(statement);
}

// Both have one limit: what a key takes is not there for sorting.
Test(query_table, a_key_leaves_sqlite_less)
{
    const sqlite3_int64 most = 1 << 30;
    fill();
    (void)sqlite3_hard_heap_limit64(most);
    const uint64_t before = atomic_load(&budget.taken);
    (void)answer("SELECT count(*) FROM l JOIN r USING (id)");
    const uint64_t keys = atomic_load(&budget.taken) - before;
    cr_expect_gt(keys, 0);
    cr_expect_eq(sqlite3_hard_heap_limit64(0), most - (sqlite3_int64)keys);
}
