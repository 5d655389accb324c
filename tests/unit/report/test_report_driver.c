// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/report_part.h"
#include "report/report_driver.h"

#include <criterion/redirect.h>

TestSuite(report_driver, .init = report_part_begin, .fini = report_part_end);

static json_t *target_of(void)
{
    return json_array_get(json_object_get(report, "targets"), 0);
}

static const char failed[] =
    "{\"verdict\":\"failed\",\"sentence\":\"after a fill, byte 4 is <wrong>\",\"check\":\"fill\","
    "\"repeat\":\"seed 1, trial 2\",\"command\":\"tapml-host check-device --check fill\"}";

static void put_check(const char *text)
{
    json_t *check = json_loads(text, 0, NULL);

    cr_assert_not_null(check);
    cr_assert_eq(json_object_set_new(target_of(), "driver_check", check), 0);
}

Test(report_driver, a_driver_that_passed_has_a_sentence)
{
    put_check("{\"verdict\":\"passed\",\"sentence\":\"11 checks passed\"}");
    cr_expect_not(report_driver_is_wrong(target_of()));
    report_driver_print_html(target_of(), &part);
    report_part_has("The driver: 11 checks passed.");
}

Test(report_driver, a_driver_that_failed_has_a_card)
{
    put_check(failed);
    cr_expect(report_driver_is_wrong(target_of()));
    report_driver_print_html(target_of(), &part);
    report_part_has("its check <code>fill</code>");
    report_part_has("byte 4 is &lt;wrong&gt;.");
    report_part_has("seed 1, trial 2");
    report_part_has("tapml-host check-device --check fill</pre>");
    cr_expect_null(strstr(part.data, "vendor"));
}

Test(report_driver, it_is_printed, .init = cr_redirect_stdout)
{
    put_check(failed);
    cr_assert_eq(report_driver_print(target_of(), "my run"), TAPML_OK);
    (void)fflush(stdout);
    cr_assert_stdout_eq_str(
        "blamed: the driver of gpu<script>alert(1)</script>: its 'fill' is wrong: after a fill, "
        "byte 4 is <wrong> (seed 1, trial 2)\n  tapml-host check-device --check fill\n");
}

Test(report_driver, a_program_for_its_vendor_is_named)
{
    put_check("{\"verdict\":\"failed\",\"program\":\"FAULT-1.c\"}");
    report_driver_print_html(target_of(), &part);
    report_part_has("nothing of TapML: <code>FAULT-1.c</code>");
}

Test(report_driver, its_bundle_is_in_the_folder_of_the_run)
{
    struct text out;

    text_init(&out);
    put_check("{\"verdict\":\"failed\",\"bundle\":\"FAULT-1.tapmlrun\","
              "\"command\":\"tapml-host replay FAULT-1.tapmlrun --target gpu\"}");
    report_driver_print_repeat(target_of(), "my run", &out);
    cr_expect_str_eq(out.data, "tapml-host replay 'my run'/FAULT-1.tapmlrun --target gpu");
    text_release(&out);
}

// Rows of a driver that is blamed, passed, and of a run without a check.
Test(report_driver, its_member_follows_from_the_rows)
{
    struct blame_row blame = {.instance = BLAME_DRIVER,
                              .kind = BLAME_ALONE,
                              .reason = "byte 4 is wrong",
                              .evidence = "",
                              .source = "fill",
                              .label = "seed 1"};
    struct bundled_row bundles[] = {
        {.instance = BLAME_DRIVER, .file = "FAULT-2.tapmlrun", .command = "a command"},
        {.instance = BUNDLED_PROGRAM, .file = "FAULT-2.c", .command = ""}};
    struct step_row steps[] = {{.verdict = STEP_PASSED, .reason = "11 checks passed"},
                               {.verdict = STEP_KEPT, .reason = "linear"}};
    struct report_rows rows = {.bundles = bundles, .bundle_count = 2};
    char reason[128];
    struct report_maker made = report_driver_make(&rows);

    cr_expect_str_eq(json_string_value(json_object_get(made.object, "verdict")), "not made");
    json_decref(made.object);
    rows.steps = steps;
    rows.step_count = 2;
    made = report_driver_make(&rows);
    cr_expect_str_eq(json_string_value(json_object_get(made.object, "verdict")), "passed");
    cr_expect_str_eq(json_string_value(json_object_get(made.object, "sentence")),
                     "11 checks passed");
    json_decref(made.object);
    report_driver_print_reason(&rows, reason, sizeof(reason));
    cr_expect_str_eq(reason, "");
    rows.driver = &blame;
    made = report_driver_make(&rows);
    cr_expect_str_eq(json_string_value(json_object_get(made.object, "verdict")), "failed");
    cr_expect_str_eq(json_string_value(json_object_get(made.object, "command")), "a command");
    cr_expect_str_eq(json_string_value(json_object_get(made.object, "bundle")), "FAULT-2.tapmlrun");
    cr_expect_str_eq(json_string_value(json_object_get(made.object, "program")), "FAULT-2.c");
    json_decref(made.object);
    report_driver_print_reason(&rows, reason, sizeof(reason));
    cr_expect_str_eq(reason, "not judged: the driver's 'fill' is wrong");
}
