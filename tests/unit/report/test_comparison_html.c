// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/changed.h"
#include "report/comparison_html.h"

static struct text page;

static void begin(void)
{
    text_init(&page);
}

static void end(void)
{
    text_release(&page);
}

TestSuite(comparison_html, .init = begin, .fini = end);

static void expect(const char *piece)
{
    cr_expect_not_null(strstr(page.data, piece), "'%s' is not in the page", piece);
}

Test(comparison_html, runs_that_are_alike_have_a_page_without_tables)
{
    json_t *comparison = compared_make(report_make(), report_make());

    comparison_html_print(comparison, &page);
    cr_assert_eq(text_status(&page), TAPML_OK);
    cr_assert_eq(strncmp(page.data, "<!doctype html>", 15), 0);
    expect("<h1 class=\"verdict good\">The runs are alike.</h1>");
    cr_expect_null(strstr(page.data, "<table"));
    json_decref(comparison);
}

Test(comparison_html, each_kind_has_a_table_and_third_parties_write_no_markup)
{
    json_t *second = report_make();

    compared_set(compared_item(second, "cases", 0), "margin", json_real(3));
    compared_set(compared_item(second, "cases", 0), "time_ns", json_integer(7));
    json_t *comparison = compared_make(report_make(), second);

    comparison_html_print(comparison, &page);
    cr_assert_eq(text_status(&page), TAPML_OK);
    expect("<h1 class=\"verdict bad\">The runs differ.</h1>");
    expect("<h2 id=\"margin\">margins</h2>");
    expect("<h2 id=\"time\">times</h2>");
    expect("<td>Infinity</td><td>3</td></tr>");
    expect("&lt;script&gt;alert(1)&lt;/script&gt;");
    cr_expect_null(strstr(page.data, REPORT_HOSTILE));
    json_decref(comparison);
}

Test(comparison_html, what_several_runs_say_has_tables)
{
    struct changed changed;

    changed_begin(&changed, 3);
    changed_set(&changed, 2, 2, "fail");
    compared_set(changed_case(&changed, 2, 2), "reason", json_string(REPORT_HOSTILE));
    json_t *comparison = changed_make(&changed, NULL);

    comparison_html_print(comparison, &page);
    cr_assert_not_null(strstr(page.data, "<h2 id=\"failures\">failures of the last run</h2>"));
    cr_assert_not_null(strstr(page.data, "<h2 id=\"flips\">flips</h2>"));
    cr_assert_not_null(strstr(page.data, "<td>pass -&gt; pass -&gt; fail</td>"));
    cr_assert_null(strstr(page.data, "<td>" REPORT_HOSTILE));
    json_decref(comparison);
    changed_end(&changed);
}
