// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/report_part.h"
#include "report/report_html_blamed.h"

#include <string.h>

TestSuite(report_html_blamed, .init = report_part_begin, .fini = report_part_end);

static json_t *target(void)
{
    return json_array_get(json_object_get(report, "targets"), 0);
}

Test(report_html_blamed, what_is_blamed_comes_with_its_values)
{
    report_html_blamed_print(target(), &part);
    cr_assert_eq(text_status(&part), TAPML_OK);
    report_part_has("<td class=\"off\">NaN</td>");
    report_part_has("y[0, 1]");
    report_part_has("prompt 1, step 3");
    report_part_has("FAULT-1.tapmlrun");
    report_part_has("tapml-host replay FAULT-1.tapmlrun --backend two");
    cr_expect_null(strstr(part.data, REPORT_HOSTILE));
}

Test(report_html_blamed, derived_cases_that_fail_are_listed)
{
    json_t *derived = json_array_get(json_object_get(target(), "derived"), 0);

    cr_assert_eq(json_array_clear(json_object_get(target(), "blamed")), 0);
    report_html_blamed_print(target(), &part);
    cr_expect(part.length == 0, "nothing is blamed, and no derived case fails");
    cr_assert_eq(json_object_set_new(derived, "verdict", json_string("fail")), 0);
    report_html_blamed_print(target(), &part);
    report_part_has("<li><code>silu</code>, shape <em>n=33</em>: no such shape</li>");
}
