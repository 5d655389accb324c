// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/report_part.h"
#include "report/report_html_time.h"

TestSuite(report_html_time, .init = report_part_begin, .fini = report_part_end);

static json_t *target_of(void)
{
    return json_array_get(json_object_get(report, "targets"), 0);
}

static void set_steps(const char *steps)
{
    json_error_t error;
    json_t *made = json_loads(steps, 0, &error);

    cr_assert_not_null(made, "%s", error.text);
    cr_assert_eq(json_object_set_new(target_of(), "steps", made), 0);
}

// Of 1000 + 15 + 975 + 10 ns.
Test(report_html_time, each_stage_is_a_bar_behind_the_one_before)
{
    set_steps("[{\"step\":\"move silu\",\"time_ns\":900},{\"step\":\"search move silu 1\","
              "\"time_ns\":500},{\"step\":\"shadow\",\"time_ns\":60},{\"step\":\"final\","
              "\"time_ns\":75}]");
    report_html_time_print(report, target_of(), &part);
    cr_assert_eq(text_status(&part), TAPML_OK);
    report_part_has(
        "calls carved, source</text><rect class=\"source\" x=\"250.0\" "
        "width=\"275.0\" height=\"14\"/><text x=\"810\" y=\"11\">50.0 %, 1.0 \xc2\xb5s</text>");
    report_part_has("<rect class=\"right\" x=\"525.0\" width=\"4.1\"");
    report_part_has("operators moved, both</text><rect class=\"other\" x=\"529.1\" "
                    "width=\"247.5\"");
    report_part_has("whole model judged, both</text>");
    report_part_has("one prompt measured, ");
    cr_expect_null(strstr(part.data, "calls judged"), "it is a part of the last step");
    cr_expect_null(strstr(part.data, REPORT_HOSTILE));
}

// Where nothing is moved kind by kind, the prompts in the shadow are a step of their own.
Test(report_html_time, a_run_in_the_shadow_has_its_stage)
{
    set_steps("[{\"step\":\"shadow\",\"time_ns\":60},{\"step\":\"final\",\"time_ns\":75}]");
    report_html_time_print(report, target_of(), &part);
    report_part_has("calls judged, both</text>");
    cr_expect_null(strstr(part.data, "operators moved"));
}

Test(report_html_time, without_a_time_nothing_is_drawn)
{
    cr_assert_eq(json_object_clear(target_of()), 0);
    cr_assert_eq(json_object_clear(json_object_get(report, "carving")), 0);
    report_html_time_print(report, target_of(), &part);
    cr_expect_eq(part.length, 0);
}
