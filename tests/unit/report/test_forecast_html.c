// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/report_part.h"
#include "report/forecast_html.h"

TestSuite(forecast_html, .init = report_part_begin, .fini = report_part_end);

Test(forecast_html, no_forecast_is_no_section)
{
    forecast_html_print(NULL, &part);
    forecast_html_print(json_object_get(report, "none"), &part);
    cr_assert_eq(part.length, 0u);
}

Test(forecast_html, a_device_has_its_verdict_and_tables)
{
    json_t *forecasts = json_pack(
        "[{s:s,s:{s:s},s:{s:i},s:{s:n,s:i},s:[{s:s,s:s,s:s,s:b,s:i,s:i,s:f}],s:[{s:s,s:s,s:s,s:s}]}"
        "]",
        "name", "phone", "device", "name", REPORT_HOSTILE, "verdict", "leave_f16", 1, "memory",
        "fits", "all", 5000, "ranges", "type", "f16", "op", "mul", "instance", "layers.1/mlp/mul",
        "leaves", 1, "values", 1000, "beyond", 7, "largest", 70000.0, "limits", "kind", "panels",
        "op", "linear", "instance", REPORT_HOSTILE, "sentence", "a weight is cut");

    cr_assert_not_null(forecasts);
    forecast_html_print(forecasts, &part);
    cr_assert_eq(text_status(&part), TAPML_OK);
    report_part_has("<h3><bdi>phone</bdi></h3>");
    report_part_has(": 1 op leaves the range of f16; memory unknown.</p>");
    report_part_has("<td><code>mul</code></td><td><code>layers.1/mlp/mul</code></td><td>leaves the "
                    "range</td><td class=\"num\" data-n=\"7e+04\">7e+04</td>");
    report_part_has("<td>a weight is cut</td>");
    cr_expect_null(strstr(part.data, REPORT_HOSTILE));
    json_decref(forecasts);
}

Test(forecast_html, what_a_stranger_put_there_is_no_crash)
{
    json_t *forecasts = json_pack("[{},[],{s:i,s:s,s:[i],s:{}}]", "device", 3, "verdict", "x",
                                  "ranges", 1, "limits");

    cr_assert_not_null(forecasts);
    forecast_html_print(forecasts, &part);
    cr_assert_eq(text_status(&part), TAPML_OK);
    json_decref(forecasts);
}
