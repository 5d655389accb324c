// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "new_store.h"
#include "store/query.h"

#include <math.h>

static const struct query_column PLAIN[] = {
    {"run", "?1", ""}, {"id", "c.id", ""}, {"op", "c.op", ""}};
static const struct query_column MADE[] = {
    {"run", NULL, ""}, {"id", NULL, ""}, {"margin", NULL, ""}, {"reason", NULL, ""}};
static const struct query_view PLAIN_VIEW = {"cases", "\"case\" AS c", "", PLAIN, 3};
static const struct query_view MADE_VIEW = {"verdicts", NULL, "", MADE, 4};
static const struct query_view *const VIEWS[] = {&PLAIN_VIEW, &MADE_VIEW};

static struct query *query;
static int checks, checks_max; // The check fails behind these.

static tapml_status check(void *user)
{
    (void)user;
    return ++checks > checks_max ? status_fail(TAPML_CANCELLED, "that is enough") : TAPML_OK;
}

static void open_query(uint64_t memory_bytes)
{
    query_destroy(query);
    query = NULL;
    checks = 0;
    MUST(query_create(
        &(struct query_options){
            .views = VIEWS, .view_count = 2, .memory_bytes = memory_bytes, .check = check},
        &query));
}

static void begin(void)
{
    make_store();
    execute("INSERT INTO run VALUES ('r', 'host', 'machine', 1);"
            "INSERT INTO prompt VALUES ('p', 2, 't', '[1]', '[2]', 'r');"
            "INSERT INTO \"case\" VALUES"
            " (7, x'01', 'a', 'x.op', 1, 'decode', 'x=[1]', 'p', 3, 0, 1, 'r'),"
            " (9, x'02', 'b', 'x.more', 1, 'decode', 'x=[1]', 'p', 3, 0, 1, 'r')");
    checks_max = INT32_MAX;
    open_query(0);
}

static void end(void)
{
    query_destroy(query);
    query = NULL;
    remove_store();
}

TestSuite(query, .init = begin, .fini = end, .timeout = 110);

struct made {
    int64_t id;
    double margin;
    const char *reason;
};

static const struct made ROWS[] = {{7, 0.5, ""}, {9, INFINITY, "y is 2"}, {11, NAN, NULL}};
static uint32_t asked; // A bit for each column that was asked for.

static void get(const void *item, size_t column, struct query_value *out_value)
{
    const struct made *made = item;
    asked |= 1U << column;
    *out_value = column == 0   ? query_text("r1")
                 : column == 1 ? query_integer(made->id)
                 : column == 2 ? query_real(made->margin)
                               : query_text(made->reason);
}

static tapml_status add_made(const struct made *items, size_t count)
{
    struct query_rows *rows = NULL;
    TAPML_TRY(query_open_rows(query, 1, &rows));
    const tapml_status status = query_rows_add(rows, get, items, sizeof(*items), count);
    MUST(query_add(query, 1, rows));
    return status;
}

static void fill(void)
{
    struct query_rows *rows = NULL;
    asked = 0;
    if (query_reads(query, 0)) {
        MUST(query_open_rows(query, 0, &rows));
        MUST(query_rows_copy(rows, store, "r1"));
        MUST(query_add(query, 0, rows));
    }
    if (query_reads(query, 1)) {
        MUST(add_made(ROWS, 3));
    }
}

// All values of the answer, as "1|x|-\n".
static char *answer(const char *sql)
{
    static char all[4096];
    struct text text;
    int has = 0;
    text_init(&text);
    open_query(0);
    MUST(query_prepare(query, sql));
    fill();
    for (;;) {
        MUST(query_next(query, &has));
        if (!has) {
            break;
        }
        for (size_t i = 0; i < query_columns(query); i++) {
            const struct query_value value = query_value(query, i);
            text_append(&text, i > 0 ? "|" : "");
            if (value.type == QUERY_INTEGER) {
                text_format(&text, "%lld", (long long)value.integer);
            } else if (value.type == QUERY_REAL) {
                text_format(&text, "%g", value.real);
            } else {
                text_append(&text, value.type == QUERY_TEXT ? value.text : "-");
            }
        }
        text_append(&text, "\n");
    }
    (void)snprintf(all, sizeof(all), "%s", text.data);
    text_release(&text);
    return all;
}

Test(query, reads_what_was_added_and_copied)
{
    cr_expect_str_eq(answer("SELECT * FROM cases ORDER BY id"), "r1|7|x.op\nr1|9|x.more\n");
    cr_expect_str_eq(answer("SELECT * FROM verdicts"), "r1|7|0.5|\nr1|9|inf|y is 2\nr1|11|-|-\n");
    cr_expect_str_eq(answer("SELECT op, margin FROM verdicts AS v JOIN cases AS c ON c.id = v.id"
                            " WHERE margin > 1"),
                     "x.more|inf\n");
    cr_expect_str_eq(answer("SELECT x'00ff', 1.5, NULL, 'a'"), "00ff|1.5|-|a\n");
    cr_expect_str_eq(answer("WITH t(x) AS (VALUES (1), (2)) SELECT count(*), sum(x) FROM t"),
                     "2|3\n");
    cr_expect_str_eq(query_name(query, 1), "sum(x)");
}

// A comment with "natural" makes all columns count as read, so both have to say the same.
Test(query, what_is_read_is_never_too_little)
{
    static const char *const questions[] = {
        "SELECT count(*) FROM verdicts NATURAL JOIN cases",
        "SELECT count(*) FROM verdicts JOIN cases USING (run, id)",
        "SELECT * FROM cases LEFT JOIN verdicts USING (id) ORDER BY id",
        "SELECT v.* FROM verdicts AS v, cases AS c WHERE v.id = c.id ORDER BY 2",
        "SELECT count(*) FROM cases",
        "SELECT max(\"margin\") FROM (SELECT * FROM verdicts)",
        "SELECT op FROM cases WHERE EXISTS (SELECT 1 FROM verdicts AS v WHERE v.id = cases.id)",
        "WITH w AS (SELECT id, reason FROM verdicts) SELECT group_concat(reason) FROM w",
        "SELECT id FROM cases EXCEPT SELECT id FROM verdicts WHERE margin < 1 ORDER BY 1",
        "SELECT RUN, Id, rank() OVER (ORDER BY margin) FROM VERDICTS",
    };
    for (size_t i = 0; i < sizeof(questions) / sizeof(*questions); i++) {
        char expected[4096], sql[512];
        (void)snprintf(sql, sizeof(sql), "%s /* natural */", questions[i]);
        (void)snprintf(expected, sizeof(expected), "%s", answer(sql));
        cr_expect_str_eq(answer(questions[i]), expected, "%s: %s", questions[i], expected);
        cr_expect_str_neq(expected, "", "%s", questions[i]);
    }
}

Test(query, all_rows_are_added)
{
    static struct made rows[1300];
    for (int i = 0; i < 1300; i++) {
        rows[i] = (struct made){.id = i, .margin = 0.5, .reason = "x"};
    }
    for (size_t count = 0; count <= 1300; count += 130) {
        int has = 0;
        open_query(0);
        MUST(query_prepare(query, "SELECT count(*), sum(id), min(reason) FROM verdicts"));
        MUST(add_made(rows, count / 2)); // Rows of two stores.
        MUST(add_made(&rows[count / 2], count - count / 2));
        MUST(query_next(query, &has));
        cr_expect_eq(query_value(query, 0).integer, (int64_t)count);
        cr_expect_eq(query_value(query, 1).integer,
                     count > 0 ? (int64_t)(count * (count - 1) / 2) : 0);
    }
}

Test(query, columns_that_are_not_read_are_not_asked_for)
{
    (void)answer("SELECT margin FROM verdicts");
    cr_expect_eq(asked, 1U << 2);
    (void)answer("SELECT count(*) FROM verdicts");
    cr_expect_eq(asked, 0);
    cr_expect(!query_reads(query, 0));
    open_query(0);
    MUST(query_prepare(query, "SELECT 1"));
    cr_expect(!query_reads(query, 0) && !query_reads(query, 1));
}

static void expect_refusal(const char *sql, const char *piece)
{
    open_query(0);
    cr_expect_eq(query_prepare(query, sql), TAPML_INVALID, "%s", sql);
    cr_expect_not_null(strstr(status_message(), piece), "%s: %s", sql, status_message());
}

Test(query, does_nothing_but_read)
{
    static const char *const others[] = {
        "ATTACH 'x.db' AS x",
        "PRAGMA journal_mode",
        "PRAGMA table_info(cases)",
        "SELECT * FROM pragma_table_info('cases')",
        "SELECT count(*) FROM pragma_database_list",
        "INSERT INTO cases VALUES (1, 2, 3)",
        "WITH t AS (SELECT 1) INSERT INTO cases SELECT 1, 2, 3 FROM t",
        "UPDATE cases SET op = ''",
        "DELETE FROM cases",
        "DROP TABLE cases",
        "CREATE TABLE t (x)",
        "CREATE TEMP TABLE t AS SELECT * FROM cases",
        "CREATE VIEW v AS SELECT 1",
        "VACUUM INTO 'x.db'",
        "VACUUM",
        "REINDEX",
        "ANALYZE",
        "BEGIN",
        "COMMIT",
        "SAVEPOINT s",
        "DETACH main",
        "CREATE VIRTUAL TABLE t USING fts5(x)",
    };
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
        expect_refusal(others[i], "a query reads the views and does nothing else");
    }
    expect_refusal("ALTER TABLE cases RENAME TO c", "table cases may not be altered");
    expect_refusal("SELECT * FROM sqlite_schema", "no such table: sqlite_master");
    expect_refusal("SELECT load_extension('x')", "calls 'load_extension'");
    expect_refusal("SELECT readfile('x')", "no such function: readfile");
    expect_refusal("SELECT randomblob(9)", "calls 'randomblob'");
    expect_refusal("SELECT 1; SELECT 2", "one statement");
    expect_refusal("SELECT 1; nonsense", "one statement");
    expect_refusal("SELECT 1 FROM json_each('[1]')", "a query reads the views");
    expect_refusal("", "the query is empty");
    expect_refusal(" -- nothing", "the query is empty");
}

Test(query, a_wrong_one_is_told_with_what_may_be_meant)
{
    expect_refusal("SELECT margn FROM verdicts", "no such column: margn, did you mean 'margin'?");
    expect_refusal("SELECT v.raeson FROM verdicts AS v",
                   "no such column: v.raeson, did you mean 'reason'?");
    expect_refusal("SELECT 1 FROM verdict", "no such table: verdict, did you mean 'verdicts'?");
    expect_refusal("SELECT 1 FROM result", "no such table: result; the views are cases, verdicts");
    expect_refusal("SELECT summ(id) FROM cases", "no such function: summ, did you mean 'sum'?");
    expect_refusal("SELECT \"x.op\"", "no such column: x.op");
    expect_refusal("SELECT FROM", "near \"FROM\": syntax error");
    expect_refusal("SELECT (", "incomplete input");
    expect_refusal("SELECT id FROM cases, verdicts", "ambiguous column name: id");
}

static tapml_status run(const char *sql)
{
    int has = 1;
    MUST(query_prepare(query, sql));
    while (has) {
        TAPML_TRY(query_next(query, &has));
    }
    return TAPML_OK;
}

#define ENDLESS "WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t) SELECT "

Test(query, ends_where_the_check_fails)
{
    checks_max = 100;
    cr_expect_eq(run(ENDLESS "max(x) FROM t"), TAPML_CANCELLED);
    cr_expect_str_eq(status_message(), "that is enough");
    cr_expect_eq(checks, checks_max + 1, "nothing goes on behind it");
    checks_max = 0;
    open_query(0);
    MUST(query_prepare(query, "SELECT count(*) FROM verdicts"));
    static const struct made many[600];
    tapml_status status = TAPML_OK;
    for (int i = 0; status == TAPML_OK && i < 100; i++) {
        status = add_made(many, sizeof(many) / sizeof(*many));
    }
    cr_expect_eq(status, TAPML_CANCELLED, "filling is checked too");
}

Test(query, takes_no_more_memory_than_it_may)
{
    static const char *const greedy[] = {
        ENDLESS "printf('%.*c', 100000, 'x') || x FROM t ORDER BY 1",
        ENDLESS "count(DISTINCT printf('%.*c', 100000, 'x') || x) FROM t",
        "SELECT printf('%.*c', 900000000, 'x')",
    };
    for (size_t i = 0; i < sizeof(greedy) / sizeof(*greedy); i++) {
        open_query(8 << 20);
        const tapml_status status = run(greedy[i]);
        cr_expect(status == TAPML_NO_MEMORY || status == TAPML_INVALID, "%s: %s", greedy[i],
                  status_message());
        cr_expect_lt(sqlite3_memory_used(), 9 << 20);
    }
    open_query(1 << 20);
    MUST(query_prepare(query, "SELECT sum(id), min(margin) FROM verdicts"));
    static const struct made many[4000];
    tapml_status status = TAPML_OK;
    for (int i = 0; status == TAPML_OK && i < 20; i++) {
        status = add_made(many, 4000);
    }
    cr_expect_eq(status, TAPML_NO_MEMORY, "rows have the same limit");
    query_destroy(query);
    query = NULL;
    cr_expect_eq(sqlite3_hard_heap_limit64(-1), 0, "the limit of before");
}
