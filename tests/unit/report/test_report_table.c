// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/report.h"
#include "report/report_table.h"

#include <criterion/redirect.h>
#include <stdio.h>
#include <string.h>

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

// A row of all of them would be wider than a terminal.
Test(report_table, more_targets_than_fit_a_line_are_a_table_more)
{
    json_t *report = report_make();
    json_t *targets = json_object_get(report, "targets");

    for (int i = 1; i < 5; i++) {
        json_t *again = json_deep_copy(json_array_get(targets, 0));
        char name[8];

        (void)snprintf(name, sizeof(name), "t%d", i);
        (void)json_object_set_new(again, "name", json_string(name));
        (void)json_array_append_new(targets, again);
    }
    (void)json_object_set_new(json_array_get(targets, 0), "name", json_string("t0"));
    print(report);
    json_decref(report);
    FILE *file = cr_get_redirected_stdout();
    char line[256];
    int tables = 0;

    for (int i = 0; i < 14 && fgets(line, sizeof(line), file) != NULL; i++) {
        cr_expect_leq(strlen(line), 101, "%s", line);
        tables += strncmp(line, "operator ", 9) == 0;
    }
    cr_assert_eq(tables, 2);
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
        "silu: none of 2 targets agrees with the source, and they compute the same values: look "
        "at the source first\n"
        "\nthree = b is given up: it went away\n");
}
