// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/changed.h"

static struct changed changed;
static json_t *comparison;

static void end(void)
{
    json_decref(comparison);
    changed_end(&changed);
}

TestSuite(changes, .fini = end);

static const json_t *failed(const char *state)
{
    return json_object_get(json_object_get(changed_changes(comparison), "failed"), state);
}

Test(changes, runs_that_are_alike_have_failures_as_before_alone)
{
    changed_begin(&changed, 3);
    comparison = changed_make(&changed, NULL);
    cr_assert_eq(changed_count(comparison, "runs"), 3);
    cr_assert_eq(changed_count(comparison, "flips"), 0);
    cr_assert_eq(changed_count(comparison, "failures"), 2);
    cr_assert_eq(json_integer_value(failed("before")), 2);
    cr_assert_not(changes_is_worse(changed_changes(comparison), 1));
    cr_assert_not(changes_has_flips(changed_changes(comparison)));
    cr_assert_null(json_object_get(changed_changes(comparison), "baseline"));
}

Test(changes, a_flip_says_what_became_of_a_case)
{
    changed_begin(&changed, 3);
    changed_set(&changed, 2, 2, "fail");
    compared_set(compared_target(changed.reports[2]), "driver", json_string("v2"));
    comparison = changed_make(&changed, NULL);
    const json_t *flip = changed_at(comparison, "flips", 0);

    cr_assert_str_eq(compared_string(flip, "change"), "broke");
    cr_assert_str_eq(compared_string(flip, "op"), "org.example.my_op");
    cr_assert_eq(json_integer_value(json_object_get(flip, "since")), 2);
    cr_assert_eq(json_array_size(json_object_get(flip, "verdicts")), 3);
    cr_assert_str_eq(json_string_value(json_array_get(json_object_get(flip, "causes"), 0)),
                     "driver: v& -> v2");
    cr_assert_str_eq(compared_string(changed_at(comparison, "failures", 0), "state"), "new");
    cr_assert_eq(json_integer_value(failed("new")), 1);
    cr_assert(changes_is_worse(changed_changes(comparison), 0));
    cr_assert(changes_has_flips(changed_changes(comparison)));
}

Test(changes, items_that_have_all_in_common_are_one_group)
{
    changed_begin(&changed, 2);
    changed_set(&changed, 0, 3, "pass");
    changed_set(&changed, 1, 2, "fail");
    changed_set(&changed, 1, 3, "fail");
    comparison = changed_make(&changed, NULL);
    cr_assert_eq(changed_count(comparison, "flips"), 2);
    cr_assert_eq(changed_count(comparison, "flip_groups"), 1);
    const json_t *group = changed_at(comparison, "flip_groups", 0);

    cr_assert_eq(json_integer_value(json_object_get(group, "count")), 2);
    cr_assert_eq(
        json_integer_value(json_object_get(changed_at(comparison, "failure_groups", 0), "count")),
        2);
}

Test(changes, a_case_that_is_not_judged_any_more_is_worse)
{
    changed_begin(&changed, 2);
    changed_set(&changed, 1, 2, "unsupported");
    comparison = changed_make(&changed, NULL);
    cr_assert_str_eq(compared_string(changed_at(comparison, "flips", 0), "change"), "lost");
    cr_assert(changes_is_worse(changed_changes(comparison), 0));
}

Test(changes, margins_that_crept_are_listed)
{
    changed_begin(&changed, 2);
    compared_set(changed_case(&changed, 1, 2), "margin", json_real(0.5));
    comparison = changed_make(&changed, NULL);
    cr_assert_eq(changed_count(comparison, "margins"), 1);
    const double room =
        json_real_value(json_object_get(changed_at(comparison, "margins", 0), "lost_room"));

    cr_assert_float_eq(room, 1.0 / 3, 1e-9);
    cr_assert_not(changes_is_worse(changed_changes(comparison), 1));
}

Test(changes, a_baseline_decides_what_is_known)
{
    struct baseline_entry entries[] = {
        {.name = "known.a", .op = "silu", .reason = "why", .expires = "never"},
        {.name = "known.b", .op = "model", .reason = "once", .expires = "never"}};
    struct baseline baseline = {.entries = entries, .count = 2};

    changed_begin(&changed, 1);
    comparison = changed_make(&changed, &baseline);
    cr_assert_eq(json_integer_value(failed("known")), 1);
    cr_assert_eq(json_integer_value(failed("new")), 1);
    cr_assert(changes_is_worse(changed_changes(comparison), 0));
    const json_t *rows =
        json_object_get(json_object_get(changed_changes(comparison), "baseline"), "entries");

    cr_assert_str_eq(compared_string(json_array_get(rows, 0), "state"), "known");
    cr_assert_str_eq(compared_string(json_array_get(rows, 1), "state"), "fixed");
}
