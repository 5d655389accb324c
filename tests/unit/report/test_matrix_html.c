// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/report_part.h"
#include "report/matrix.h"
#include "report/matrix_html.h"

TestSuite(matrix_html, .init = report_part_begin, .fini = report_part_end);

static void print(const char *link, enum matrix_by by)
{
    const struct matrix_run run = {"a & b", link, report};
    json_t *matrix = NULL;

    cr_assert_eq(
        matrix_create(&(struct matrix_options){.runs = &run, .count = 1, .by = by}, &matrix),
        TAPML_OK);
    matrix_html_print(matrix, &part);
    cr_assert_eq(text_status(&part), TAPML_OK);
    json_decref(matrix);
}

Test(matrix_html, each_cell_is_a_link)
{
    print("runs/a.html", MATRIX_BY_TARGET);
    report_part_has("0 of 1 runs are right.");
    report_part_has("<th scope=\"row\">silu</th><td class=\"x\"><a "
                    "href=\"runs/a.html#target-1\">\xe2\x9c\x95&nbsp;\xe2\x88\x9e</a></td>");
    report_part_has("<td class=\"x\"><a href=\"runs/a.html#target-1\">wrong</a></td>");
    report_part_has("<td><a href=\"runs/a.html\">a &amp; b</a></td>");
    cr_expect_null(strstr(part.data, REPORT_HOSTILE));
}

Test(matrix_html, a_run_without_a_report_has_no_link)
{
    print(NULL, MATRIX_BY_TARGET);
    report_part_has("<td class=\"x\">\xe2\x9c\x95&nbsp;\xe2\x88\x9e</td>");
    report_part_has("<tr><td>a &amp; b</td>");
    cr_expect_null(strstr(part.data, "<a href"));
}

Test(matrix_html, columns_by_device_have_its_name)
{
    print(NULL, MATRIX_BY_DEVICE);
    report_part_has("operators by device");
    report_part_has("<code>c:d</code><br>&lt;script&gt;");
}
