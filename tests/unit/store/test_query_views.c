// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "one_case.h"
#include "store/query.h"

TestSuite(query_views, .init = begin, .fini = end, .timeout = 110);

static tapml_status check(void *user)
{
    (void)user;
    return TAPML_OK;
}

// The first value of the answer, from the store of one case.
static int64_t ask(const char *sql)
{
    const struct query_view *views[QUERY_VIEWS_MAX];
    struct query *query = NULL;
    size_t count = 0;
    int has = 0;
    for (; query_views_at(count) != NULL; count++) {
        views[count] = query_views_at(count);
    }
    const struct query_options options = {.views = views, .view_count = count, .check = check};
    MUST(query_create(&options, &query));
    MUST(query_prepare(query, sql));
    for (size_t i = 0; i < count; i++) {
        if (query_reads(query, i)) {
            struct query_rows *rows = NULL;
            MUST(query_open_rows(query, i, &rows));
            MUST(query_rows_copy(rows, store, "runs/a"));
            MUST(query_add(query, i, rows));
        }
    }
    MUST(query_next(query, &has));
    cr_assert(has, "%s", sql);
    const int64_t value = query_value(query, 0).integer;
    query_destroy(query);
    return value;
}

// Each is read whole, so that each expression is prepared.
Test(query_views, have_distinct_columns_of_which_the_first_is_the_run)
{
    for (size_t i = 0; query_views_at(i) != NULL; i++) {
        const struct query_view *view = query_views_at(i);
        char sql[128];
        cr_expect_str_eq(view->columns[0].name, "run");
        for (size_t k = 0; k < view->count; k++) {
            cr_expect(*view->columns[k].about != '\0', "%s", view->columns[k].name);
            for (size_t earlier = 0; earlier < k; earlier++) {
                cr_expect_str_neq(view->columns[k].name, view->columns[earlier].name);
            }
        }
        (void)snprintf(sql, sizeof(sql), "SELECT count(*) FROM (SELECT * FROM %s)", view->name);
        (void)ask(sql);
    }
}

Test(query_views, say_what_the_tables_say)
{
    execute("INSERT INTO metadata VALUES ('model.hash', 'h'), ('run.name', 'a');"
            "INSERT INTO instance VALUES (0, 'a', 'x.op', 'exact'), (1, 'b', 'x.op', 'exact');"
            "INSERT INTO target (name, position, backend, activations, faults, goal, needs_all)"
            " VALUES ('gpu', 0, 'x', 'f32', '', '', 0), ('old', NULL, 'x', 'f32', '', '', 0);"
            "INSERT INTO blame VALUES ('gpu', 'a', 'alone', 2, '', 'case', 7, '', '', 1, 1);"
            "INSERT INTO derived VALUES"
            " ('gpu', 0, 7, 'shape', 'out=33', 'fail', 3, 'y', 'wrong', 1, 2, 'b');"
            "INSERT INTO invariance VALUES"
            " ('gpu', 'x.op', 1, 'rows', 'wrong', 8, 5, 'a', 'rows=8', 2, 'why', 'b'),"
            " ('gpu', 'x.op', 1, 'run', 'equal bits', 0, 15, '', '', 0.5, '', 'b');"
            "INSERT INTO usage SELECT id, 'gpu', 'cpu:0', 'v', 2, 'USD', 1, NULL, 7200000000000, 5,"
            " NULL, 3, 0, 4, 3, 2, 8, 2, 3 FROM run LIMIT 1");
    cr_expect_eq(ask("SELECT case_id FROM cases WHERE run = 'runs/a' AND instance = 'a'"
                     " AND op = 'x.op' AND key = '01' AND prompt = 2 AND step = 3"),
                 7);
    cr_expect_eq(ask("SELECT source_ns FROM cases"), 40);
    cr_expect_eq(ask("SELECT calls FROM ops WHERE op = 'x.op' AND class = 'exact'"
                     " AND instances = 2 AND cases = 1 AND calls_ns = 42"),
                 2);
    cr_expect_eq(ask("SELECT blamed FROM targets WHERE target = 'gpu' AND agrees IS NULL"), 1);
    cr_expect_eq(ask("SELECT count(*) FROM targets"), 1, "one is not of the run any more");
    cr_expect_eq(ask("SELECT calls FROM runs WHERE name = 'a' AND model_hash = 'h'"
                     " AND prompts = 1 AND cases = 1 AND starts = 1 AND machine = 'machine'"),
                 2);
    cr_expect_eq(ask("SELECT margin FROM derived WHERE label = 'out=33' AND op = 'x.op'"), 0);
    cr_expect_eq(ask("SELECT size FROM invariance WHERE verdict = 'wrong' AND axis = 'rows' AND"
                     " instance = 'a' AND shape = 'rows=8' AND reason = 'why' AND margin = 2"),
                 8);
    cr_expect_eq(ask("SELECT tried FROM invariance WHERE size IS NULL AND run = 'runs/a'"), 15);
    cr_expect_eq(ask("SELECT busy_ns FROM usage WHERE place = 'gpu' AND device = 'cpu:0' AND"
                     " currency = 'USD' AND start_ns IS NULL AND cases = 3 AND money = 4"),
                 5);
}

Test(query_views, a_condition_chooses_cases)
{
    struct text sql;
    text_init(&sql);
    query_views_choose("margin > 1 -- a comment", &sql);
    cr_assert_not_null(strstr(sql.data, "SELECT DISTINCT case_id FROM cases LEFT JOIN verdicts"));
    cr_assert_not_null(strstr(sql.data, "WHERE (\nmargin > 1 -- a comment\n)"));
    text_release(&sql);
}
