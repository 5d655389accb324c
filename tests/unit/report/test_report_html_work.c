// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/report_part.h"
#include "report/report_html_work.h"

#include <string.h>

TestSuite(report_html_work, .init = report_part_begin, .fini = report_part_end);

Test(report_html_work, steps_coverage_and_every_instance)
{
    report_html_work_print(report, json_array_get(json_object_get(report, "targets"), 0), &part);
    cr_assert_eq(text_status(&part), TAPML_OK);
    report_part_has("<b>move silu</b><span>kept: fine</span>");
    report_part_has("1 trials to find");
    report_part_has("2 prompts made 20 calls of 2 operators on the source.");
    report_part_has("3 of 4 cases were compared here, and 0 of 1 made up around them.");
    report_part_has("Every one of the 2 operators");
    report_part_has("<td><code>layers.0/b</code></td><td>org.example.my_op</td><td>right</td>");
    cr_expect_null(strstr(part.data, REPORT_HOSTILE));
}

Test(report_html_work, neutral_steps_have_a_neutral_mark)
{
    json_t *target = json_array_get(json_object_get(report, "targets"), 0);
    json_t *search = json_array_get(json_object_get(target, "steps"), 1);

    report_html_work_print(report, target, &part);
    report_part_has(
        "<span class=\"good\" aria-hidden=\"true\">\xe2\x9c\x93</span><b>move silu</b>");
    report_part_has(
        "<span class=\"soft\" aria-hidden=\"true\">\xc2\xb7</span><b>search move silu 1</b>");
    cr_expect_null(strstr(part.data, "class=\"bad\""));
    text_clear(&part);
    cr_assert_eq(json_object_set_new(search, "step", json_string("shadow run")), 0);
    report_html_work_print(report, target, &part);
    report_part_has(
        "<span class=\"bad\" aria-hidden=\"true\">\xe2\x9c\x95</span><b>shadow run</b>");
    text_clear(&part);
    cr_assert_eq(json_object_set_new(search, "verdict", json_string("judged")), 0);
    report_html_work_print(report, target, &part);
    report_part_has("<span class=\"soft\" aria-hidden=\"true\">\xc2\xb7</span><b>shadow run</b>");
}

Test(report_html_work, nothing_left_out_has_its_sentence)
{
    json_t *target = json_array_get(json_object_get(report, "targets"), 0);

    cr_assert_eq(json_array_clear(json_object_get(target, "not_compared")), 0);
    report_html_work_print(report, target, &part);
    report_part_has("Nothing that the model needs was skipped, unsupported or left out.");
}

Test(report_html_work, the_policy_that_ordered_the_moves_is_named)
{
    const json_t *target = json_array_get(json_object_get(report, "targets"), 0);

    report_html_work_print(report, target, &part);
    report_part_has("was moved, dearest first, and after");
    text_clear(&part);
    (void)json_object_set_new(json_object_get(report, "run"), "policy",
                              json_string("org.example.x/quick<b> 1.0"));
    report_html_work_print(report, target, &part);
    report_part_has(
        "in the order of the policy <code>org.example.x/quick&lt;b&gt; 1.0</code>, and");
}
