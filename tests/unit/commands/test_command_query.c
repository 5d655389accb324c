// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/command.h"
#include "harness/scratch.h"
#include "store/store.h"
#include "store/store_open.h"

static struct scratch scratch;

static void setup(void)
{
    struct store *store = NULL;

    scratch_make(&scratch);
    cr_assert_eq(store_open(scratch_path(&scratch, "run.tapmlrun"), 1, &store), TAPML_OK);
    store_close(store);
}

static void teardown(void)
{
    scratch_remove(&scratch);
}

TestSuite(command_query, .init = setup, .fini = teardown);

#define QUERY(...) PRINTED(command_query_main, __VA_ARGS__)

static char csv[] = "--csv", json[] = "--json", views[] = "--views", rows[] = "--rows=1";
static char sum[] = "SELECT 1 + 1 AS two", pair[] = "VALUES (1), (2)", wrong[] = "SELECT x";

Test(command_query, prints_in_three_forms)
{
    printed_expect(QUERY(scratch.folder, sum), OUTCOME_OK, "two\n  2\n");
    printed_expect(QUERY(csv, scratch.folder, sum), OUTCOME_OK, "two\n2\n");
    printed_expect(QUERY(scratch.folder, json, sum), OUTCOME_OK, "{\"two\": 2}");
    printed_expect(QUERY(views), OUTCOME_OK, "verdicts: ");
}

Test(command_query, is_refused_with_a_sentence)
{
    printed_expect(QUERY(sum), OUTCOME_USAGE, "expected folders of runs and a query behind them");
    printed_expect(QUERY(scratch.folder, wrong), OUTCOME_USAGE, "no such column: x");
    printed_expect(QUERY(csv, json, scratch.folder, sum), OUTCOME_USAGE, "one is expected");
    printed_expect(QUERY(views, scratch.folder), OUTCOME_USAGE, "expected no argument");
}

Test(command_query, more_rows_than_wanted_end_it_behind_the_first)
{
    struct printed printed = QUERY(csv, rows, scratch.folder, pair);

    cr_expect_eq(printed.outcome, OUTCOME_ENVIRONMENT);
    cr_expect_str_eq(printed.out, "column1\n1\n");
    cr_expect_not_null(strstr(printed.err, "the first 1 rows of more"));
    printed_release(&printed);
}
