// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/query_words.h"

#include <criterion/criterion.h>

static const struct query_column COLUMNS[] = {{"margin", NULL, ""}, {"reason", NULL, ""}};
static const struct query_view VERDICTS = {"verdicts", NULL, "", COLUMNS, 2};
static const struct query_view CASES = {"cases", NULL, "", COLUMNS, 2};
static const struct query_view *const VIEWS[] = {&VERDICTS, &CASES};

static void expect(const char *message, const char *sentence)
{
    cr_expect_eq(query_words_fail(VIEWS, 2, message), TAPML_INVALID);
    cr_expect_str_eq(status_message(), sentence);
}

Test(query_words, the_nearest_name_is_told)
{
    expect("no such column: margn",
           "the query is wrong: no such column: margn, did you mean 'margin'?");
    expect("no such column: main.v.raeson",
           "the query is wrong: no such column: main.v.raeson, did you mean 'reason'?");
    expect("no such column: xyz", "the query is wrong: no such column: xyz");
    expect("no such table: case", "the query is wrong: no such table: case, did you mean 'cases'?");
    expect("no such table: xyz",
           "the query is wrong: no such table: xyz; the views are verdicts, cases");
    expect("no such function: summ",
           "the query is wrong: no such function: summ, did you mean 'sum'?");
    expect("near \"x\": syntax error", "the query is wrong: near \"x\": syntax error");
}

Test(query_words, functions_are_known_in_either_case)
{
    cr_expect(query_words_is_function("count") && query_words_is_function("COUNT"));
    cr_expect(query_words_is_function("row_number") && query_words_is_function("strftime"));
    cr_expect(!query_words_is_function("load_extension") && !query_words_is_function(""));
    cr_expect(!query_words_is_function("random") && !query_words_is_function("zeroblob"));
}
