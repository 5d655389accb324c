// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/report.h"
#include "report/report_html_blamed.h"

#include <string.h>

static struct text part;
static json_t *report;

static void begin(void)
{
    text_init(&part);
    report = report_make();
}

static void end(void)
{
    text_release(&part);
    json_decref(report);
}

TestSuite(report_html_blamed, .init = begin, .fini = end);

static void expect(const char *piece)
{
    cr_expect_not_null(strstr(part.data, piece), "'%s' is not in the part", piece);
}

static json_t *target(void)
{
    return json_array_get(json_object_get(report, "targets"), 0);
}

Test(report_html_blamed, what_is_blamed_comes_with_its_values)
{
    report_html_blamed_print(target(), &part);
    cr_assert_eq(text_status(&part), TAPML_OK);
    expect("<td class=\"off\">NaN</td>");
    expect("y[0, 1]");
    expect("prompt 1, step 3");
    expect("FAULT-1.tapmlrun");
    expect("tapml-host replay FAULT-1.tapmlrun --backend two");
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
    expect("<li><code>silu</code>, shape <em>n=33</em>: no such shape</li>");
}
