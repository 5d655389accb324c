// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/report.h"
#include "report/report_table.h"

#include <criterion/redirect.h>
#include <stdio.h>

TestSuite(report_table, .init = cr_redirect_stdout);

static void print(const json_t *report)
{
    cr_assert_eq(report_table_print(report), TAPML_OK);
    (void)fflush(stdout);
}

Test(report_table, one_target_has_none)
{
    json_t *report = report_make();

    print(report);
    (void)printf("nothing before\n");
    (void)fflush(stdout);
    json_decref(report);
    cr_assert_stdout_eq_str("nothing before\n");
}

// The same target again, renamed, and one that was given up.
Test(report_table, every_target_has_a_column)
{
    json_t *report = report_make();
    json_t *targets = json_object_get(report, "targets");
    json_t *again = json_deep_copy(json_array_get(targets, 0));

    (void)json_object_set_new(json_array_get(targets, 0), "name", json_string("one"));
    (void)json_object_set_new(again, "name", json_string("two"));
    (void)json_object_set_new(again, "verdict", json_string("right"));
    (void)json_array_append_new(targets, again);
    (void)json_object_set_new(
        report, "given_up",
        json_pack("[{s:s,s:s,s:s}]", "name", "three", "backend", "b", "reason", "it went away"));
    print(report);
    json_decref(report);
    cr_assert_stdout_eq_str(
        "\noperator                 one                  two                  three               "
        "\n"
        "tapml.silu               wrong inf            wrong inf            given up            \n"
        "org.example.my_op        right 0.25           right 0.25           given up            \n"
        "moved                    1 of 2               1 of 2               given up            \n"
        "end to end               agrees 0.5           agrees 0.5           given up            \n"
        "verdict                  wrong                right                given up            "
        "\n"
        "\nthree = b is given up: it went away\n");
}
