// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/report_part.h"
#include "report/report_html_plot.h"

TestSuite(report_html_plot, .init = report_part_begin, .fini = report_part_end);

static json_t *target_of(void)
{
    return json_array_get(json_object_get(report, "targets"), 0);
}

Test(report_html_plot, each_instance_is_a_point_and_each_op_a_histogram)
{
    report_html_plot_print(target_of(), &part);
    cr_assert_eq(text_status(&part), TAPML_OK);
    // An infinite margin is at the top; 0.25 is six tenths of a decade below the limit.
    report_part_has("<circle class=\"wrong\" cx=\"283.0\" cy=\"12.0\" r=\"3\">");
    report_part_has("<circle class=\"right\" cx=\"721.0\" cy=\"82.5\" r=\"3\">"
                    "<title>layers.0/b (org.example.my_op): 0.25</title>");
    report_part_has("<line class=\"limit\"");
    report_part_has(">layers.0</text>");
    report_part_has("<code>silu</code> <span class=\"soft\">1 + 0</span>");
    report_part_has(
        "<title>up to \xe2\x88\x9e: 1 recorded, 0 made up</title><rect class=\"kept wrong\" "
        "x=\"142\" y=\"0.0\" width=\"16\" height=\"56.0\"/>");
    report_part_has("<title>up to .3: 1 recorded, 0 made up</title><rect class=\"kept\"");
    cr_expect_null(strstr(part.data, REPORT_HOSTILE));
}

Test(report_html_plot, the_largest_margin_decides_the_scale)
{
    json_t *first = json_array_get(json_object_get(target_of(), "instances"), 0);

    cr_assert_eq(json_object_set_new(first, "margin", json_real(1e5)), 0);
    report_html_plot_print(target_of(), &part);
    report_part_has(">1e4</text>");
    report_part_has("<circle class=\"wrong\" cx=\"283.0\" cy=\"12.0\"");
}

Test(report_html_plot, what_was_not_compared_has_no_point)
{
    json_t *instances = json_object_get(target_of(), "instances");

    cr_assert_eq(json_object_set_new(json_array_get(instances, 0), "margin", json_null()), 0);
    report_html_plot_print(target_of(), &part);
    cr_expect_null(strstr(part.data, "<circle class=\"wrong\""));
    report_part_has("<circle class=\"right\"");
    cr_assert_eq(json_object_set_new(json_array_get(instances, 1), "margin", json_null()), 0);
    text_clear(&part);
    report_html_plot_print(target_of(), &part);
    cr_assert_eq(part.length, 0, "there is nothing to draw");
}
