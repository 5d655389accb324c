// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/report.h"
#include "report/report_html.h"

static struct text page;
static json_t *report;

static void begin(void)
{
    text_init(&page);
    report = report_make();
}

static void end(void)
{
    text_release(&page);
    json_decref(report);
}

TestSuite(report_html, .init = begin, .fini = end);

static size_t count(const char *piece)
{
    size_t found = 0;

    for (const char *at = strstr(page.data, piece); at != NULL; at = strstr(at + 1, piece)) {
        found++;
    }
    return found;
}

static void expect(const char *piece)
{
    cr_expect_gt(count(piece), 0, "'%s' is not in the page", piece);
}

Test(report_html, it_is_a_page_with_model_and_date)
{
    report_html_print(report, &page);
    cr_assert_eq(text_status(&page), TAPML_OK);
    cr_assert_eq(strncmp(page.data, "<!doctype html>", 15), 0);
    expect("21 November 2026, 14:02 UTC");
    expect("12,345 parameters");
}

Test(report_html, no_stranger_writes_markup)
{
    report_html_print(report, &page);
    cr_expect_eq(count("<script>"), 1, "%zu scripts", count("<script>"));
    cr_expect_eq(count("</script>"), 1);
    cr_expect_geq(count("&lt;script&gt;alert(1)&lt;/script&gt;"), 10);
}

Test(report_html, nothing_is_asked_of_a_network)
{
    report_html_print(report, &page);
    expect("content=\"default-src &#39;none&#39;;");
    cr_expect_eq(count("http:"), 0);
    cr_expect_eq(count("https:"), 0);
    cr_expect_eq(count("unsafe-inline"), 0);
    cr_expect_eq(count(" style="), 0);
    cr_expect_eq(count(" onclick"), 0);
}

Test(report_html, a_right_target_and_several_of_them)
{
    json_t *targets = json_object_get(report, "targets");
    json_t *other = json_deep_copy(json_array_get(targets, 0));

    cr_assert_eq(json_object_set_new(other, "verdict", json_string("right")), 0);
    cr_assert_eq(json_array_clear(json_object_get(other, "blamed")), 0);
    cr_assert_eq(json_array_append_new(targets, other), 0);
    report_html_print(report, &page);
    expect("1 of 2 targets are right.");
    expect("is right.</b> It computes what the source computes.");
    expect("href=\"#target-2\"");
    expect("id=\"target-2\"");
    cr_expect_eq(count("<h1"), 1);
}

Test(report_html, a_run_without_targets_says_what_is_recorded)
{
    cr_assert_eq(json_array_clear(json_object_get(report, "targets")), 0);
    report_html_print(report, &page);
    expect("4 cases are recorded, for any target.");
}

Test(report_html, a_target_that_went_away_is_reported)
{
    json_t *given_up =
        json_pack("[{s:s, s:s, s:s}]", "name", "page", "backend", "webgpu", "reason", "<closed>");

    cr_assert_eq(json_object_set_new(report, "given_up", given_up), 0);
    cr_assert_eq(json_array_clear(json_object_get(report, "targets")), 0);
    report_html_print(report, &page);
    expect("The target <bdi>page</bdi> was given up.");
    expect("<code>webgpu</code>: &lt;closed&gt;");
    cr_expect_eq(count("are recorded, for any target."), 0);
}

Test(report_html, a_page_may_load_itself_again)
{
    text_clear(&page);
    report_html_begin_reloading("a title", 30, &page);
    cr_expect_not_null(strstr(page.data, "<meta http-equiv=\"refresh\" content=\"30\">\n<style>"));
    text_clear(&page);
    report_html_begin("a title", &page);
    cr_expect_null(strstr(page.data, "refresh"));
}
