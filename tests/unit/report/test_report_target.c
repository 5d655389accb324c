// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/reported.h"
#include "report/report_target.h"

static struct scratch scratch;

static void begin(void)
{
    scratch_make(&scratch);
}

static void end(void)
{
    scratch_remove(&scratch);
}

TestSuite(report_target, .init = begin, .fini = end, .timeout = 110);

static json_t *target_of(const json_t *report)
{
    return json_array_get(json_object_get(report, "targets"), 0);
}

Test(report_target, a_right_target_has_all_its_numbers)
{
    json_t *report = reported_run(&scratch, "", OUTCOME_OK);
    json_t *target = target_of(report);
    json_t *counts = json_object_get(target, "counts");
    json_t *grid = json_object_get(target, "grid");
    json_t *rows = json_object_get(grid, "rows");

    cr_assert_str_eq(reported_string(target, "name"), "other");
    cr_assert_str_eq(reported_string(target, "device"), "f64");
    cr_assert_eq(reported_count(json_object_get(report, "model"), "ops"),
                 reported_count(counts, "instances"));
    cr_assert_eq(reported_count(counts, "moved"), reported_count(counts, "wanted"));
    cr_assert_eq(reported_count(counts, "passed"), reported_count(counts, "cases"));
    cr_assert_gt(reported_count(counts, "cases"), 0);
    cr_assert_eq((json_int_t)json_array_size(json_object_get(target, "cases")),
                 reported_count(counts, "cases"));
    cr_assert_eq((json_int_t)json_array_size(json_object_get(target, "derived")),
                 reported_count(counts, "derived"));
    cr_assert_eq((json_int_t)json_array_size(json_object_get(target, "instances")),
                 reported_count(counts, "instances"));
    cr_assert_eq(json_array_size(rows), 4);
    cr_assert_str_eq(reported_string(json_array_get(rows, 0), "name"), "embed");
    cr_assert_str_eq(reported_string(json_array_get(rows, 1), "name"), "layers.0");
    cr_assert_str_eq(reported_string(json_array_get(rows, 3), "name"), "norm .. head");
    for (size_t i = 0; i < json_array_size(rows); i++) {
        cr_assert_eq(json_array_size(json_object_get(json_array_get(rows, i), "cells")),
                     json_array_size(json_object_get(grid, "columns")));
    }
    json_decref(report);
}

Test(report_target, an_blamed_has_its_bad_values_and_its_bundle)
{
    json_t *report = reported_run(&scratch,
                                  "[fault.1]\ntarget = other\nop = silu\ninstance = layers.1/*\n"
                                  "kind = scale 2\n",
                                  OUTCOME_WRONG);
    json_t *target = target_of(report);
    json_t *accused = json_array_get(json_object_get(target, "blamed"), 0);
    json_t *item = json_object_get(accused, "case");
    json_t *value = json_array_get(json_object_get(item, "values"), 0);

    cr_assert_str_eq(reported_string(report, "verdict"), "wrong");
    cr_assert_not_null(strstr(reported_string(target, "faults"), "scale 2"));
    cr_assert_eq(json_array_size(json_object_get(target, "blamed")), 1);
    cr_assert_str_eq(reported_string(accused, "instance"), "layers.1/mlp/silu");
    cr_assert(json_is_true(json_object_get(accused, "alone")));
    cr_assert_eq(json_array_size(json_object_get(item, "values")), 8);
    cr_assert_gt(reported_count(item, "beyond"), 8);
    cr_assert_geq(reported_count(item, "elements"), reported_count(item, "beyond"));
    cr_assert_str_eq(reported_string(value, "param"), "y");
    const double expected = json_number_value(json_object_get(value, "expected"));
    const double computed = json_number_value(json_object_get(value, "computed"));

    cr_assert_float_eq(computed, 2 * expected, 1e-6);
    cr_assert_gt(json_number_value(json_object_get(value, "difference")),
                 json_number_value(json_object_get(value, "allowed")));
    json_t *bundle = json_object_get(accused, "bundle");

    cr_assert_str_eq(reported_string(bundle, "file"), "FAULT-1.tapmlrun");
    cr_assert_not_null(
        strstr(reported_string(bundle, "command"), "replay FAULT-1.tapmlrun --config "));
    json_decref(report);
}

Test(report_target, a_plan_leaves_what_it_leaves)
{
    json_t *report = reported_run(
        &scratch, "[plan]\nrule = * -> source\nrule = op=linear -> other\n", OUTCOME_OK);
    json_t *target = target_of(report);
    json_t *entry = json_array_get(json_object_get(target, "not_compared"), 0);

    cr_assert_str_eq(reported_string(entry, "what"), "operator not moved");
    cr_assert_eq(reported_count(json_object_get(target, "counts"), "wanted"), 15);
    json_decref(report);
}
