// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/report.h"
#include "report/report_junit.h"

static struct text xml;

static void begin(void)
{
    json_t *report = report_make();

    text_init(&xml);
    report_junit_print(report, &xml);
    json_decref(report);
    cr_assert_eq(text_status(&xml), TAPML_OK);
}

static void end(void)
{
    text_release(&xml);
}

TestSuite(report_junit, .init = begin, .fini = end);

static void expect(const char *piece)
{
    cr_expect_not_null(strstr(xml.data, piece), "'%s' is not in\n%s", piece, xml.data);
}

Test(report_junit, suites_and_cases_are_counted)
{
    // The driver, silu in two phases, my_op in one, a derived case, the model.
    expect(
        "<testsuites name=\"run-&lt;script&gt;alert(1)&lt;/script&gt;\" tests=\"6\" failures=\"1\" "
        "errors=\"1\" skipped=\"2\"");
    expect("<testsuite name=\"gpu&lt;script&gt;alert(1)&lt;/script&gt;\" "
           "timestamp=\"2026-11-21T14:02:00\"");
    expect("<property name=\"driver\" value=\"v&amp;\"/>");
}

Test(report_junit, cases_of_an_instance_and_phase_are_one)
{
    expect("classname=\"gpu&lt;script&gt;alert(1)&lt;/script&gt;.org.example.my_op\" "
           "name=\"layers.0/b decode\" time=\"2.000000\">");
    expect("<error message=\"lost\" type=\"error\">1 of 2 cases: lost</error>");
}

Test(report_junit, what_was_compared_has_its_margin)
{
    json_t *report = report_make();
    json_t *cases = json_object_get(json_array_get(json_object_get(report, "targets"), 0), "cases");

    expect("<system-out>margin \xe2\x88\x9e</system-out>");
    cr_assert_null(strstr(xml.data, "margin 0"), "the error has no margin");
    cr_assert_eq(json_array_remove(cases, 3), 0);
    text_clear(&xml);
    report_junit_print(report, &xml);
    json_decref(report);
    expect(
        "name=\"layers.0/b decode\" time=\"1.500000\">\n   <system-out>margin 0.25</system-out>\n");
}

Test(report_junit, failures_and_skips_have_their_sentence)
{
    expect("<failure message=\"y[1] is \xef\xbf\xbdNaN\" type=\"beyond-limit\">");
    expect("<skipped message=\"too &lt;large&gt;\"/>");
    expect("name=\"derived shape: n=33, around layers.0/b decode\"");
    expect("<skipped message=\"no such shape\"/>");
}

Test(report_junit, a_target_that_went_away_is_an_error)
{
    json_t *report = report_make();
    json_t *given_up = json_pack("[{s:s, s:s}]", "name", "page", "reason", "<closed>");

    cr_assert_eq(json_object_set_new(report, "given_up", given_up), 0);
    text_clear(&xml);
    report_junit_print(report, &xml);
    json_decref(report);
    expect("tests=\"7\" failures=\"1\" errors=\"2\" skipped=\"2\"");
    expect("<testsuite name=\"page\" tests=\"1\" failures=\"0\" errors=\"1\"");
    expect("<error message=\"&lt;closed&gt;\" type=\"given up\"/>");
}

Test(report_junit, what_fails_with_others_and_the_model_are_cases_too)
{
    json_t *report = report_make();
    json_t *target = json_array_get(json_object_get(report, "targets"), 0);
    json_t *accused = json_array_get(json_object_get(target, "blamed"), 0);

    expect("model\" name=\"end to end\" time=\"0.000000\"/>");
    cr_assert_eq(json_object_set_new(accused, "alone", json_false()), 0);
    cr_assert_eq(json_object_set_new(json_object_get(target, "end_to_end"), "agrees", json_false()),
                 0);
    text_clear(&xml);
    report_junit_print(report, &xml);
    json_decref(report);
    expect("alert(1)&lt;/script&gt; in the model\"");
    expect("<failure message=\"all is as it was\"");
}

// What was not judged is no failure beside that of the driver.
Test(report_junit, a_wrong_driver_is_the_failure)
{
    json_t *report = report_make();
    json_t *target = json_array_get(json_object_get(report, "targets"), 0);
    json_t *check = json_object_get(target, "driver_check");

    cr_assert_eq(json_object_set_new(check, "verdict", json_string("failed")), 0);
    cr_assert_eq(json_object_set_new(check, "sentence", json_string("byte 4 is <wrong>")), 0);
    cr_assert_eq(json_object_set_new(target, "cases", json_array()), 0);
    cr_assert_eq(json_object_set_new(target, "derived", json_array()), 0);
    text_clear(&xml);
    report_junit_print(report, &xml);
    json_decref(report);
    expect(
        ".driver\" name=\"memory and queue\" time=\"0.000000\">\n   <failure message=\"byte 4 is "
        "&lt;wrong&gt;\"");
    expect("tests=\"2\" failures=\"1\" errors=\"0\" skipped=\"1\"");
}

Test(report_junit, what_counts_and_must_not_is_a_failure)
{
    json_t *report = report_make();
    json_t *target = json_array_get(json_object_get(report, "targets"), 0);
    json_t *items = json_pack("[{s:s,s:s,s:s,s:i,s:s},{s:s,s:s,s:s,s:i,s:s},{s:s,s:s,s:s,s:i,s:s}]",
                              "op", "tapml.silu", "axis", "rows", "verdict", "wrong", "tried", 16,
                              "reason", "y[0] is 2", "op", "model", "axis", "chunk", "verdict",
                              "within limits", "tried", 2, "reason", "", "op", "tapml.silu", "axis",
                              "chunk", "verdict", "not tried", "tried", 0, "reason", "no states");

    cr_assert_not_null(items);
    json_object_set_new(target, "invariance", items);
    text_clear(&xml);
    report_junit_print(report, &xml);
    json_decref(report);
    expect("name=\"invariance: rows\"");
    expect("y[0] is 2");
    expect("tests=\"8\" failures=\"2\"");
}
