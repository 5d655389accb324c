// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/compared.h"

Test(comparison, a_report_is_like_itself)
{
    json_t *comparison = compared_make(report_make(), report_make());

    cr_assert(comparison_is_alike(comparison));
    cr_assert_eq(json_array_size(json_object_get(comparison, "differences")), 0);
    cr_assert_eq(
        json_integer_value(json_object_get(json_object_get(comparison, "compared"), "cases")), 4);
    json_decref(comparison);
}

Test(comparison, row_ids_and_the_order_of_cases_mean_nothing)
{
    json_t *second = report_make();
    json_t *cases = json_object_get(compared_target(second), "cases");
    json_t *first_case = json_incref(json_array_get(cases, 0));

    compared_set(first_case, "id", json_integer(77));
    cr_assert_eq(json_array_remove(cases, 0), 0);
    cr_assert_eq(json_array_append_new(cases, first_case), 0);
    json_t *comparison = compared_make(report_make(), second);

    cr_assert_eq(json_array_size(json_object_get(comparison, "differences")), 0);
    json_decref(comparison);
}

Test(comparison, a_verdict_and_a_margin_make_runs_differ)
{
    json_t *second = report_make();
    json_t *item = compared_item(second, "cases", 2);

    compared_set(item, "margin", json_real(0.375));
    json_t *comparison = compared_make(report_make(), second);
    const json_t *found = compared_only(comparison);

    cr_assert_not(comparison_is_alike(comparison));
    cr_assert_str_eq(compared_string(found, "kind"), "margin");
    cr_assert_str_eq(compared_string(found, "list"), "cases");
    cr_assert_str_eq(compared_string(found, "item"), "layers.0/b, decode");
    cr_assert_eq(json_real_value(json_object_get(found, "first")), 0.25);
    cr_assert_eq(json_real_value(json_object_get(found, "second")), 0.375);
    json_decref(comparison);

    second = report_make();
    compared_set(compared_item(second, "cases", 2), "verdict", json_string("fail"));
    comparison = compared_make(report_make(), second);
    cr_assert_not(comparison_is_alike(comparison));
    cr_assert_str_eq(compared_string(compared_only(comparison), "kind"), "verdict");
    json_decref(comparison);
}

// Nine digits are what `--json` writes.
Test(comparison, reals_are_compared_as_they_are_written)
{
    json_t *second = report_make();

    compared_set(compared_item(second, "cases", 2), "margin", json_real(0.25 + 1e-13));
    json_t *comparison = compared_make(report_make(), second);

    cr_assert(comparison_is_alike(comparison));
    json_decref(comparison);
}

Test(comparison, times_costs_steps_and_names_do_not_count_and_the_largest_time_is_first)
{
    json_t *second = report_make();

    compared_set(compared_item(second, "cases", 0), "time_ns", json_integer(6));
    compared_set(compared_item(second, "cases", 2), "time_ns", json_integer(5));
    compared_set(json_object_get(compared_target(second), "search"), "moves", json_integer(5));
    compared_set(json_object_get(second, "run"), "name", json_string("other"));
    compared_set(compared_item(second, "steps", 0), "margin", json_real(0.75));
    json_t *comparison = compared_make(report_make(), second);
    const json_t *differences = json_object_get(comparison, "differences");

    cr_assert(comparison_is_alike(comparison));
    cr_assert_eq(compared_count(comparison, "time"), 2);
    cr_assert_eq(compared_count(comparison, "cost"), 1);
    cr_assert_eq(compared_count(comparison, "label"), 1);
    cr_assert_eq(compared_count(comparison, "step"), 1);
    cr_assert_str_eq(compared_string(json_array_get(differences, 2), "item"), "layers.0/b, decode");
    json_decref(comparison);
}

Test(comparison, what_one_of_them_lacks_is_reported)
{
    json_t *first = report_make(), *second = report_make();

    cr_assert_eq(json_array_clear(json_object_get(compared_target(second), "blamed")), 0);
    cr_assert_eq(json_array_remove(json_object_get(compared_target(first), "cases"), 3), 0);
    cr_assert_eq(json_object_del(json_object_get(second, "source"), "build"), 0);
    json_t *comparison = compared_make(first, second);
    const json_t *differences = json_object_get(comparison, "differences");

    cr_assert_eq(json_array_size(differences), 3);
    const json_t *blame = json_array_get(differences, 0);

    cr_assert_str_eq(compared_string(blame, "kind"), "blame");
    cr_assert_str_eq(compared_string(blame, "field"), "present");
    cr_assert(json_is_true(json_object_get(blame, "first")));
    cr_assert(json_is_false(json_object_get(blame, "second")));
    cr_assert_str_eq(compared_string(json_array_get(differences, 1), "kind"), "case");
    cr_assert(json_is_true(json_object_get(json_array_get(differences, 1), "second")));
    cr_assert_str_eq(compared_string(json_array_get(differences, 2), "field"), "source.build");
    cr_assert(json_is_null(json_object_get(json_array_get(differences, 2), "second")));
    json_decref(comparison);
}

Test(comparison, targets_are_paired_by_name)
{
    json_t *second = report_make();

    compared_set(compared_target(second), "name", json_string("another"));
    json_t *comparison = compared_make(report_make(), second);

    cr_assert_eq(compared_count(comparison, "target"), 2);
    cr_assert_eq(json_array_size(json_object_get(comparison, "differences")), 2);
    cr_assert_str_eq(
        compared_string(json_array_get(json_object_get(comparison, "differences"), 1), "target"),
        "another");
    json_decref(comparison);
}

Test(comparison, another_order_of_steps_is_reported_with_both)
{
    json_t *second = report_make();
    json_t *steps = json_object_get(compared_target(second), "steps");
    json_t *step = json_incref(json_array_get(steps, 0));

    cr_assert_eq(json_array_remove(steps, 0), 0);
    cr_assert_eq(json_array_append_new(steps, step), 0);
    json_t *comparison = compared_make(report_make(), second);
    const json_t *found = compared_only(comparison);

    cr_assert_str_eq(compared_string(found, "kind"), "step");
    cr_assert_str_eq(compared_string(found, "field"), "order");
    cr_assert_str_eq(json_string_value(json_array_get(json_object_get(found, "first"), 0)),
                     "move silu");
    cr_assert_str_eq(json_string_value(json_array_get(json_object_get(found, "second"), 1)),
                     "move silu");
    json_decref(comparison);
}

// Two of a kind are two: the second is not taken for the first.
static json_t *make_stages(int64_t visits)
{
    return json_pack("{s: s, s: [{s: s, s: s, s: s, s: I}, {s: s, s: s, s: s, s: I}]}", "sentence",
                     "the device", "stages", "target", "gpu", "phase", "replay", "stage", "device",
                     "visits", (json_int_t)visits, "target", "", "phase", "replay", "stage", "read",
                     "visits", (json_int_t)7);
}

Test(comparison, lists_of_a_bottleneck_are_compared_item_by_item)
{
    json_t *first = report_make(), *second = report_make();

    compared_set(first, "bottleneck", make_stages(3));
    compared_set(second, "bottleneck", make_stages(4));
    json_t *comparison = compared_make(first, second);
    const json_t *found = compared_only(comparison);

    cr_assert(comparison_is_alike(comparison));
    cr_assert_str_eq(compared_string(found, "kind"), "cost");
    cr_assert_str_eq(compared_string(found, "item"), "gpu, replay, device");
    cr_assert_str_eq(compared_string(found, "field"), "visits");
    json_decref(comparison);
}

Test(comparison, items_that_are_the_same_are_paired_in_their_order)
{
    json_t *second = report_make();

    compared_set(compared_item(second, "cases", 3), "margin", json_real(2));
    json_t *comparison = compared_make(report_make(), second);
    const json_t *found = compared_only(comparison);

    cr_assert(json_is_null(json_object_get(found, "first")));
    cr_assert_eq(json_real_value(json_object_get(found, "second")), 2);
    json_decref(comparison);
}
