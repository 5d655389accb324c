// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/changed_text.h"
#include "report/changes_junit.h"

TestSuite(changes_junit, .init = begin, .fini = end);

// silu failed before, my_op fails in one case more.
Test(changes_junit, what_is_new_fails_and_what_was_there_is_skipped)
{
    changed_begin(&changed, 2);
    changed_set(&changed, 1, 2, "fail");
    comparison = changed_make(&changed, NULL);
    changes_junit_print(comparison, &text);
    expect("<testsuites name=\"tapml-host compare\" tests=\"2\" failures=\"1\" errors=\"0\" "
           "skipped=\"1\"");
    expect(".org.example.my_op\" name=\"cases\"");
    expect(
        "<failure message=\"1 failures are new, 1 are known or as before, 0 cases are not judged "
        "any more\" type=\"beyond-limit\">new: gpu");
    expect("<skipped message=\"0 failures are new, 1 are known or as before");
}

Test(changes_junit, what_is_no_op_is_a_test_if_it_fails)
{
    changed_begin(&changed, 2);
    json_t *end_to_end = json_object_get(compared_target(changed.reports[1]), "end_to_end");
    json_t *given_up = json_pack("[{s:s,s:s}]", "name", "phone", "reason", "<gone>");

    compared_set(end_to_end, "agrees", json_false());
    compared_set(changed.reports[1], "given_up", given_up);
    comparison = changed_make(&changed, NULL);
    changes_junit_print(comparison, &text);
    expect(".model\" name=\"cases\"");
    expect("<testsuite name=\"phone\" tests=\"1\" failures=\"1\"");
    expect("phone.target\" name=\"cases\"");
    expect("&lt;gone&gt;");
}

Test(changes_junit, times_fail_where_they_are_to)
{
    changed_begin(&changed, 1);
    comparison = changed_make(&changed, NULL);
    json_t *op = json_array_get(json_object_get(changed_changes(comparison), "ops"), 1);

    compared_set(op, "time",
                 json_pack("{s:s,s:f,s:f}", "move", "slower", "ratio", 2.0, "noise", 1.2));
    changes_junit_print(comparison, &text);
    expect("name=\"time\" time=\"0.000000\">\n   <skipped message=\"slower by a factor of 2, noise "
           "1.2\"/>");
    text_clear(&text);
    changes_junit_print_timed(comparison, &text);
    expect("<failure message=\"slower by a factor of 2, noise 1.2\"");
}
