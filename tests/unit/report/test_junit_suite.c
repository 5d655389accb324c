// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/junit_suite.h"

#include <criterion/criterion.h>
#include <string.h>

Test(junit_suite, test_cases_are_written_and_counted)
{
    struct junit_suite suite = {.name = "gpu"}, all = {.tests = 0};
    const struct junit_trial passed = {.op = "tapml.silu", .name = "a", .time_ns = 1500000000};
    const struct junit_trial failed = {.op = "tapml.silu",
                                       .name = "<b>",
                                       .kind = JUNIT_FAILED,
                                       .reason = "y is 1",
                                       .cases = 3,
                                       .bad = 2,
                                       .has_margin = 1,
                                       .margin = 2};
    const struct junit_trial error = {
        .op = "x", .name = "c", .kind = JUNIT_ERROR, .reason = "lost", .details = "all of it"};
    const struct junit_trial skipped = {
        .op = "x", .name = "d", .kind = JUNIT_SKIPPED, .reason = "no"};
    struct text counts;

    text_init(&suite.cases);
    text_init(&counts);
    junit_suite_add(&suite, &passed);
    junit_suite_add(&suite, &failed);
    junit_suite_add(&suite, &error);
    junit_suite_add(&suite, &skipped);
    junit_suite_sum(&all, &suite);
    junit_suite_sum(&all, &suite);
    junit_suite_print_counts(&all, &counts);
    cr_assert_str_eq(suite.cases.data,
                     "  <testcase classname=\"gpu.silu\" name=\"a\" time=\"1.500000\"/>\n"
                     "  <testcase classname=\"gpu.silu\" name=\"&lt;b&gt;\" time=\"0.000000\">\n"
                     "   <failure message=\"y is 1\" type=\"beyond-limit\">2 of 3 cases: y is "
                     "1</failure>\n   <system-out>margin 2</system-out>\n  </testcase>\n"
                     "  <testcase classname=\"gpu.x\" name=\"c\" time=\"0.000000\">\n"
                     "   <error message=\"lost\" type=\"error\">all of it</error>\n  </testcase>\n"
                     "  <testcase classname=\"gpu.x\" name=\"d\" time=\"0.000000\">\n"
                     "   <skipped message=\"no\"/>\n  </testcase>\n");
    cr_assert_str_eq(counts.data,
                     " tests=\"8\" failures=\"2\" errors=\"2\" skipped=\"2\" time=\"3.000000\"");
    text_release(&counts);
    text_release(&suite.cases);
}
