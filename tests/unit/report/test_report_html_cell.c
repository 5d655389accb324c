// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/report_part.h"
#include "report/report_html_cell.h"

#include <math.h>

TestSuite(report_html_cell, .init = report_part_begin, .fini = report_part_end);

Test(report_html_cell, states_have_a_sign_and_margins_a_colour)
{
    report_html_cell_print("right", 0, &part);
    report_html_cell_print("right", 0.7, &part);
    report_html_cell_print("together", 2, &part);
    report_html_cell_print("unsupported", NAN, &part);
    report_html_cell_print("not judged", NAN, &part);
    report_html_cell_print("source", NAN, &part);
    report_html_cell_print(NULL, NAN, &part);
    cr_assert_str_eq(part.data, "<td class=\"a\">=</td><td class=\"d\">0.70</td>"
                                "<td class=\"x\">\xe2\x97\x86&nbsp;2.00</td><td class=\"u\">R</td>"
                                "<td class=\"u\">?</td><td class=\"s\">S</td>"
                                "<td class=\"n\"></td>");
}

Test(report_html_cell, the_key_explains_each_sign)
{
    report_html_cell_print_key(&part);
    report_part_has("wrong alone");
    report_part_has("not compared");
}

Test(report_html_cell, a_link_stands_in_its_cell)
{
    report_html_cell_print_link("right", 0, "a.html?b&c", &part);
    report_html_cell_print_link(NULL, NAN, "a.html", &part);
    cr_assert_str_eq(part.data, "<td class=\"a\"><a href=\"a.html?b&amp;c\">=</a></td>"
                                "<td class=\"n\"></td>");
}
