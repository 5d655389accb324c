// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/report.h"

#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static size_t read_stdout(char *text, size_t size)
{
    FILE *file = cr_get_redirected_stdout();
    size_t length = 0;

    (void)fflush(stdout);
    for (int next = 0; length + 1 < size && strstr(text, "more") == NULL; length++) {
        next = fgetc(file);
        if (next == EOF) {
            break;
        }
        text[length] = (char)next;
        text[length + 1] = '\0';
    }
    return length;
}

Test(report, verdicts_are_counted_by_op_and_failures_reported, .init = cr_redirect_stdout)
{
    struct verdict items[] = {
        {.case_id = 1,
         .instance = "a",
         .op_name = "tapml.silu",
         .phase = "prefill",
         .shape_class = "",
         .kind = VERDICT_PASS,
         .margin = 0.5,
         .reason = ""},
        {.case_id = 2,
         .instance = "b",
         .op_name = "tapml.silu",
         .phase = "decode",
         .shape_class = "x=[1,4]",
         .kind = VERDICT_FAIL,
         .margin = 20,
         .reason = "y[0] is 1"},
        {.case_id = 3,
         .instance = "c",
         .op_name = "tapml.add",
         .phase = "decode",
         .shape_class = "",
         .kind = VERDICT_UNSUPPORTED,
         .margin = NAN,
         .reason = "no op"},
    };
    char text[4096] = "";

    cr_assert_eq(report_print_verdicts(&(struct verdict_list){.items = items, .count = 3}, 1),
                 TAPML_OK);
    cr_assert_gt(read_stdout(text, sizeof(text)), 0u);
    cr_assert_not_null(strstr(
        text, "tapml.silu                    2      1      1            0                     20"));
    cr_assert_not_null(strstr(text, "tapml.add                     1      0      0            1"));
    cr_assert_not_null(strstr(text, "case 2 b decode x=[1,4]: "));
    cr_assert_not_null(strstr(text, "y[0] is 1"));
    cr_assert_not_null(strstr(text, "and 1 more"));
}
