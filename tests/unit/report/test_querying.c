// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/scratch.h"
#include "report/querying.h"
#include "store/store.h"
#include "store/store_open.h"
#include "store/stored_case.h"

static struct scratch scratch;

// Runs in folders: "one" has a case, "runs/a" and "runs/b" have one, too.
static void add_run(const char *folder)
{
    char path[4 * SCRATCH_PATH];
    struct store *store = NULL;

    (void)snprintf(path, sizeof(path), "%s/run.tapmlrun", folder);
    cr_assert_eq(mkdir(folder, 0777), 0);
    cr_assert_eq(store_open(path, 1, &store), TAPML_OK, "%s", status_message());
    cr_assert_eq(stored_case_add(store, &(struct carved_case){.instance = "a/b",
                                                              .op_name = "x.op",
                                                              .op_version = 1,
                                                              .phase = "prefill",
                                                              .shape_class = "x=[1]"}),
                 TAPML_OK, "%s", status_message());
    store_close(store);
}

static void begin(void)
{
    scratch_make(&scratch);
    add_run(scratch_path(&scratch, "one"));
    cr_assert_eq(mkdir(scratch_path(&scratch, "runs"), 0777), 0);
    add_run(scratch_path(&scratch, "runs/b"));
    add_run(scratch_path(&scratch, "runs/a"));
    cr_assert_eq(mkdir(scratch_path(&scratch, "runs/none"), 0777), 0);
    scratch_text(&scratch, "runs/file", "");
}

static void end(void)
{
    scratch_remove(&scratch);
}

TestSuite(querying, .init = begin, .fini = end, .timeout = 110);

static int64_t seconds = 60;

static tapml_status ask(const char *name, const char *sql, int64_t rows, struct text *out_text)
{
    const char *const folders[] = {scratch_path(&scratch, name)};

    text_init(out_text);
    return querying_run(&(struct querying_options){.folders = folders,
                                                   .folder_count = 1,
                                                   .sql = sql,
                                                   .form = QUERY_FORM_CSV,
                                                   .seconds = seconds,
                                                   .memory_mib = 16,
                                                   .rows = rows},
                        out_text);
}

static void expect(const char *name, const char *sql, tapml_status status, const char *piece)
{
    struct text text;

    cr_expect_eq(ask(name, sql, 100, &text), status, "%s: %s", sql, status_message());
    cr_expect_not_null(strstr(status == TAPML_OK ? text.data : status_message(), piece), "%s: %s%s",
                       sql, text.data, status == TAPML_OK ? "" : status_message());
    cr_expect(status == TAPML_OK || text.length == 0, "%s", text.data);
    text_release(&text);
}

Test(querying, asks_runs_and_folders_of_runs)
{
    struct text text;

    expect("one", "SELECT count(*) || '!' FROM cases", TAPML_OK, "\n1!\n");
    expect("runs", "SELECT count(*) || '!' FROM cases", TAPML_OK, "\n2!\n");
    expect("runs", "SELECT group_concat(substr(run, -6)) FROM runs", TAPML_OK, "\"runs/a,runs/b\"");
    expect("runs/none", "SELECT 1", TAPML_NOT_FOUND, "there is no run in '");
    expect("nowhere", "SELECT 1", TAPML_NOT_FOUND, "there is no run in '");
    cr_assert_eq(ask("runs", "SELECT count(*) FROM verdicts, derived", 1, &text), TAPML_OK);
    text_release(&text);
}

Test(querying, a_wrong_query_is_told_before_stores_are_read)
{
    scratch_text(&scratch, "runs/a/run.tapmlrun", "no store");
    expect("runs", "SELECT missing FROM cases", TAPML_INVALID, "no such column: missing");
    expect("runs", "SELECT 1 + 1", TAPML_OK, "\n2\n");
    expect("runs", "SELECT * FROM cases", TAPML_INVALID, "runs/a/run.tapmlrun");
}

#define ENDLESS "WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t) SELECT "

Test(querying, is_bounded)
{
    struct text text;

    seconds = 1;
    expect("one", ENDLESS "max(x) FROM t", TAPML_UNAVAILABLE, "not ended after 1 s: --seconds");
    seconds = 60;
    expect("one", ENDLESS "count(DISTINCT printf('%.*c', 100000, 'x') || x) FROM t",
           TAPML_NO_MEMORY, "the query needs more than 16 MiB: --memory allows more");
    cr_expect_eq(ask("one", ENDLESS "x FROM t", 3, &text), TAPML_UNAVAILABLE);
    cr_expect_str_eq(text.data, "x\n1\n2\n3\n");
    cr_expect_not_null(strstr(status_message(), "the first 3 rows of more: --rows"));
    text_release(&text);
    cr_expect_eq(ask("one", ENDLESS "x FROM t LIMIT 3", 3, &text), TAPML_OK);
    text_release(&text);
}

Test(querying, what_can_be_asked_is_printed)
{
    struct text text;

    text_init(&text);
    querying_print_views(&text);
    cr_expect_not_null(strstr(text.data, "verdicts: what became of each kept case"));
    cr_expect_not_null(strstr(text.data, "\ntargets: "));
    cr_expect_not_null(strstr(text.data, "  shape_class "));
    text_release(&text);
}
