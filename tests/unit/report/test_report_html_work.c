// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/report.h"
#include "report/report_html_work.h"

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

TestSuite(report_html_work, .init = begin, .fini = end);

static void expect(const char *piece)
{
    cr_expect_not_null(strstr(part.data, piece), "'%s' is not in the part", piece);
}

Test(report_html_work, steps_coverage_and_every_instance)
{
    report_html_work_print(report, json_array_get(json_object_get(report, "targets"), 0), &part);
    cr_assert_eq(text_status(&part), TAPML_OK);
    expect("<b>move silu</b><span>kept: fine</span>");
    expect("1 trials to find");
    expect("2 prompts made 20 calls of 2 operators on the source.");
    expect("3 of 4 cases were compared here, and 0 of 1 made up around them.");
    expect("Every one of the 2 operators");
    expect("<td><code>layers.0/b</code></td><td>org.example.my_op</td><td>right</td>");
    cr_expect_null(strstr(part.data, REPORT_HOSTILE));
}

Test(report_html_work, nothing_left_out_has_its_sentence)
{
    json_t *target = json_array_get(json_object_get(report, "targets"), 0);

    cr_assert_eq(json_array_clear(json_object_get(target, "not_compared")), 0);
    report_html_work_print(report, target, &part);
    expect("Nothing that the model needs was skipped, unsupported or left out.");
}
