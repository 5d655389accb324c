// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/changed.h"
#include "report/failures.h"

static struct failure_list list;

static void end(void)
{
    failures_release(&list);
}

TestSuite(failures, .fini = end);

static const struct failure *find(const char *op)
{
    for (size_t i = 0; i < list.count; i++) {
        if (strcmp(list.items[i].op, op) == 0) {
            return &list.items[i];
        }
    }
    return NULL;
}

static void read_report(json_t *report)
{
    cr_assert_eq(failures_read(report, &list), TAPML_OK);
}

// The driver and the model pass, silu fails once, my_op passes once and ends with an error once;
// what was skipped is neither.
Test(failures, what_was_judged_is_listed)
{
    json_t *report = report_make();

    read_report(report);
    cr_assert_eq(list.count, 5);
    cr_assert_eq(failures_count(&list, FAILURE_NEW), 2);
    const struct failure *silu = find("tapml.silu");

    cr_assert(silu->is_bad);
    cr_assert_str_eq(silu->target, "gpu" REPORT_HOSTILE);
    cr_assert_str_eq(silu->device, "c:d");
    cr_assert_str_eq(silu->driver, "v&");
    cr_assert_str_eq(silu->verdict, "fail");
    cr_assert_not(find(FAILURES_DRIVER)->is_bad);
    cr_assert_not(find(FAILURES_MODEL)->is_bad);
    cr_assert_null(find(FAILURES_TARGET));
    json_decref(report);
}

Test(failures, what_fails_with_others_the_driver_and_the_model_are_listed)
{
    json_t *report = report_make();
    json_t *target = compared_target(report);

    compared_set(compared_item(report, "blamed", 0), "alone", json_false());
    compared_set(json_object_get(target, "end_to_end"), "agrees", json_false());
    compared_set(json_object_get(target, "driver_check"), "verdict", json_string("failed"));
    read_report(report);
    cr_assert(find(FAILURES_DRIVER)->is_bad);
    cr_assert_str_eq(find(FAILURES_DRIVER)->reason, "11 checks passed");
    int has = 0;

    for (size_t i = 0; i < list.count; i++) {
        has |= strcmp(list.items[i].phase, "in the model") == 0 && list.items[i].is_bad;
    }
    cr_assert(has);
    json_decref(report);
}

Test(failures, a_target_that_is_not_there_and_one_that_is_wrong_for_another_reason)
{
    json_t *report = report_make();
    json_t *given_up =
        json_pack("[{s:s, s:s, s:s}]", "name", "phone", "backend", "x", "reason", "gone");

    compared_set(report, "given_up", given_up);
    cr_assert_eq(json_array_clear(json_object_get(compared_target(report), "cases")), 0);
    read_report(report);
    cr_assert_eq(failures_count(&list, FAILURE_NEW), 2);
    cr_assert_str_eq(list.items[list.count - 1].target, "phone");
    cr_assert_str_eq(list.items[list.count - 1].reason, "gone");
    cr_assert_str_eq(find(FAILURES_TARGET)->verdict, "fail");
    cr_assert_gt(strlen(find(FAILURES_TARGET)->reason), 0);
    json_decref(report);
}

// Of two that fail under one name the run before had one.
Test(failures, what_the_run_before_had_is_before_as_often_as_it_had_it)
{
    json_t *first = report_make(), *second = report_make();
    struct failure_list earlier;

    compared_set(compared_item(second, "cases", 2), "verdict", json_string("fail"));
    read_report(second);
    cr_assert_eq(failures_read(first, &earlier), TAPML_OK);
    cr_assert_eq(failures_compare(&earlier, &list), TAPML_OK);
    cr_assert_eq(failures_count(&list, FAILURE_NEW), 1);
    cr_assert_eq(failures_count(&list, FAILURE_BEFORE), 2);
    failures_release(&earlier);
    json_decref(first);
    json_decref(second);
}

Test(failures, an_item_is_said_in_a_line)
{
    const struct failure failure = {
        .instance = "layers.0/b", .phase = "decode", .shape_class = "", .label = "n=33"};
    struct text text;

    text_init(&text);
    failures_print_item(&failure, &text);
    cr_assert_str_eq(text.data, "layers.0/b, decode, n=33");
    text_release(&text);
    cr_assert_str_eq(failures_state_name(FAILURE_EXPIRED), "expired");
}
