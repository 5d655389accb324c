// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/report_part.h"
#include "report/report_html_target.h"

TestSuite(report_html_target, .init = report_part_begin, .fini = report_part_end);

Test(report_html_target, it_has_verdict_blame_plan_and_work)
{
    report_html_target_print(report, 0, &part);
    cr_assert_eq(text_status(&part), TAPML_OK);
    report_part_has("<code>silu</code> is wrong on");
    report_part_has("class=\"blamed\"");
    report_part_has("<td class=\"x\">\xe2\x9c\x95&nbsp;\xe2\x88\x9e</td><td class=\"b\">0.25</td>");
    report_part_has("<h2>What was tried, in order</h2>");
}

Test(report_html_target, the_headline_stands_alone_too)
{
    report_html_target_print_headline(json_array_get(json_object_get(report, "targets"), 0), &part);
    cr_assert_eq(strncmp(part.data, "<span", 5), 0, "%s", part.data);
    report_part_has("<code>silu</code> is wrong on");
    cr_expect_null(strstr(part.data, "<section"));
}

Test(report_html_target, what_only_a_whole_model_shows_has_its_sentence)
{
    json_t *target = json_array_get(json_object_get(report, "targets"), 0);
    json_t *judged = json_object_get(target, "end_to_end");

    cr_assert_eq(json_array_clear(json_object_get(target, "blamed")), 0);
    cr_assert_eq(json_object_set_new(judged, "agrees", json_false()), 0);
    report_html_target_print(report, 0, &part);
    report_part_has("diverges from the source.</b>");
    cr_assert_eq(json_object_set_new(judged, "agrees", json_true()), 0);
    text_clear(&part);
    report_html_target_print(report, 0, &part);
    report_part_has("lacks operators that it was asked to run.</b>");
    json_t *op = json_array_get(json_object_get(target, "ops"), 0);

    cr_assert_eq(
        json_object_set_new(json_object_get(target, "counts"), "derived_failed", json_integer(1)),
        0);
    cr_assert_eq(json_object_set_new(json_object_get(json_object_get(op, "derived"), "shape"),
                                     "failed", json_integer(1)),
                 0);
    text_clear(&part);
    report_html_target_print(report, 0, &part);
    report_part_has("<code>silu</code> fails on");
}
