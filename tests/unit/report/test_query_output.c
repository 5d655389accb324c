// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/query_output.h"

#include <criterion/criterion.h>
#include <string.h>

static tapml_status check(void *user)
{
    (void)user;
    return TAPML_OK;
}

// The answer of a query without views, in a form.
static struct text answer(const char *sql, enum query_form form)
{
    const struct query_options options = {.view_count = 0, .check = check};
    struct query_output output;
    struct query *query = NULL;
    struct text text;
    int has = 0;

    text_init(&text);
    query_output_init(&output, form, 1 << 20);
    cr_assert_eq(query_create(&options, &query), TAPML_OK);
    cr_assert_eq(query_prepare(query, sql), TAPML_OK, "%s", status_message());
    for (;;) {
        cr_assert_eq(query_next(query, &has), TAPML_OK);
        if (!has) {
            break;
        }
        cr_assert_eq(query_output_add(&output, query), TAPML_OK);
    }
    cr_assert_eq(query_output_print(&output, query, &text), TAPML_OK);
    query_output_release(&output);
    query_destroy(query);
    return text;
}

static void expect(const char *sql, enum query_form form, const char *expected)
{
    struct text text = answer(sql, form);

    cr_expect_str_eq(text.data, expected);
    text_release(&text);
}

#define VALUES                                                                                     \
    "SELECT 'a' AS name, 1 AS n, 0.1 AS margin UNION ALL"                                          \
    " SELECT 'b, \"c\"' || char(10), 1234, 9e999 UNION ALL SELECT NULL, NULL, NULL"

Test(query_output, a_table_has_columns_that_fit)
{
    expect(VALUES, QUERY_FORM_TABLE,
           "name        n    margin\n"
           "a           1       0.1\n"
           "b, \"c\"   1234  Infinity\n"
           "                       \n");
    expect("SELECT 1 AS x WHERE 0", QUERY_FORM_TABLE, "x\n");
    expect("SELECT char(0x1b) || '[2J' AS x, 'w' || char(0xf6) || 'rd' AS y, 1 AS z",
           QUERY_FORM_TABLE, "x     y     z\n [2J  w\xc3\xb6rd  1\n");
}

Test(query_output, csv_is_quoted_where_it_needs_to_be)
{
    expect(VALUES, QUERY_FORM_CSV,
           "name,n,margin\n"
           "a,1,0.10000000000000001\n"
           "\"b, \"\"c\"\"\n\",1234,Infinity\n"
           ",,\n");
    expect("SELECT 1 AS \"x,y\" WHERE 0", QUERY_FORM_CSV, "\"x,y\"\n");
}

Test(query_output, json_is_an_array_of_objects)
{
    expect(VALUES, QUERY_FORM_JSON,
           "[\n {\"name\": \"a\", \"n\": 1, \"margin\": 0.10000000000000001},\n"
           " {\"name\": \"b, \\\"c\\\"\\n\", \"n\": 1234, \"margin\": \"Infinity\"},\n"
           " {\"name\": null, \"n\": null, \"margin\": null}\n]\n");
    expect("SELECT 1 AS x, 2 AS x, -9e999 AS x", QUERY_FORM_JSON,
           "[\n {\"x\": 1, \"x:2\": 2, \"x:3\": \"-Infinity\"}\n]\n");
    expect("SELECT 1 AS x WHERE 0", QUERY_FORM_JSON, "[]\n");
}

Test(query_output, has_an_end)
{
    const struct query_options options = {.view_count = 0, .check = check};
    struct query_output output;
    struct query *query = NULL;
    int has = 0;

    query_output_init(&output, QUERY_FORM_CSV, 10);
    cr_assert_eq(query_create(&options, &query), TAPML_OK);
    cr_assert_eq(query_prepare(query, "SELECT 'twelve bytes'"), TAPML_OK);
    cr_assert_eq(query_next(query, &has), TAPML_OK);
    cr_expect_eq(query_output_add(&output, query), TAPML_NO_MEMORY);
    query_output_release(&output);
    query_destroy(query);
}
