// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/report_part.h"
#include "report/report_html_sides.h"

TestSuite(report_html_sides, .init = report_part_begin, .fini = report_part_end);

Test(report_html_sides, one_target_has_none)
{
    report_html_sides_print(report, &part);
    cr_assert_eq(part.length, 0);
}

Test(report_html_sides, every_target_has_a_column)
{
    json_t *targets = json_object_get(report, "targets");
    json_t *again = json_deep_copy(json_array_get(targets, 0));
    json_t *first = json_array_get(json_object_get(again, "instances"), 0);

    cr_assert_eq(json_object_set_new(first, "state", json_string("right")), 0);
    cr_assert_eq(json_object_set_new(first, "margin", json_real(0.5)), 0);
    cr_assert_eq(json_array_append_new(targets, again), 0);
    cr_assert_eq(json_object_set_new(report, "given_up",
                                     json_pack("[{s:s,s:s,s:s}]", "name", "<web>", "backend", "b",
                                               "reason", "it went away")),
                 0);
    report_html_sides_print(report, &part);
    cr_assert_eq(text_status(&part), TAPML_OK);
    report_part_has("<a href=\"#target-2\">gpu");
    report_part_has("<th scope=\"col\">&lt;web&gt;</th>");
    report_part_has("<th scope=\"row\">silu</th><td class=\"x\">\xe2\x9c\x95&nbsp;\xe2\x88\x9e</td>"
                    "<td class=\"c\">0.50</td><td class=\"u\">given up</td></tr>");
    report_part_has("<th scope=\"row\">moved</th><td class=\"s\">1 of 2</td>");
    cr_expect_null(strstr(part.data, REPORT_HOSTILE));
}
