// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/compared.h"
#include "report/comparison_pair.h"

Test(comparison_pair, one_target_is_left_under_a_new_name)
{
    json_t *report = report_make();
    json_t *targets = json_object_get(report, "targets");
    json_t *other = json_deep_copy(json_array_get(targets, 0));

    compared_set(other, "name", json_string("phone"));
    cr_assert_eq(json_array_append_new(targets, other), 0);
    cr_assert_eq(comparison_pair_keep(report, "run", "phone", "cpu=phone"), TAPML_OK);
    cr_assert_eq(json_array_size(targets), 1);
    cr_assert_str_eq(compared_string(compared_target(report), "name"), "cpu=phone");
    cr_assert_eq(comparison_pair_keep(report, "run", "gpu", "x"), TAPML_NOT_FOUND);
    cr_assert_str_eq(status_message(), "the run in 'run' has no target 'gpu'");
    json_decref(report);
}

Test(comparison_pair, a_target_that_was_given_up_is_one)
{
    json_t *report = report_make();

    compared_set(report, "given_up", json_pack("[{s:s,s:s}]", "name", "phone", "reason", "gone"));
    cr_assert_eq(comparison_pair_keep(report, "run", "phone", "x"), TAPML_OK);
    cr_assert_eq(json_array_size(json_object_get(report, "targets")), 0);
    cr_assert_eq(json_array_size(json_object_get(report, "given_up")), 1);
    json_decref(report);
}
