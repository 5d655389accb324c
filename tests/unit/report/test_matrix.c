// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/alloc.h"
#include "harness/report_part.h"
#include "harness/scratch.h"
#include "report/matrix.h"

static json_t *matrix;

static void end(void)
{
    json_decref(matrix);
    matrix = NULL;
    report_part_end();
}

TestSuite(matrix, .init = report_part_begin, .fini = end);

static json_t *target_of(json_t *of)
{
    return json_array_get(json_object_get(of, "targets"), 0);
}

static void set(json_t *object, const char *key, const char *value)
{
    cr_assert_eq(json_object_set_new(object, key, json_string(value)), 0);
}

static tapml_status make(const json_t *first, const json_t *second, enum matrix_by by)
{
    const struct matrix_run runs[] = {{"monday", "runs/monday.html", first},
                                      {"tuesday", NULL, second}};
    const struct matrix_options options = {.runs = runs, .count = second != NULL ? 2 : 1, .by = by};

    json_decref(matrix);
    matrix = NULL;
    return matrix_create(&options, &matrix);
}

static const json_t *model_at(size_t index)
{
    return json_array_get(json_object_get(matrix, "models"), index);
}

static const json_t *row_at(size_t model, size_t row)
{
    return json_array_get(json_object_get(model_at(model), "rows"), row);
}

static const json_t *cell_at(size_t row, size_t column)
{
    return json_array_get(json_object_get(row_at(0, row), "cells"), column);
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text != NULL ? text : "";
}

Test(matrix, has_a_row_for_each_operator_and_a_cell_that_leads_to_its_report)
{
    cr_assert_eq(make(report, NULL, MATRIX_BY_TARGET), TAPML_OK);
    cr_assert_str_eq(text_of(matrix, "format"), "tapml.matrix/1");
    cr_assert_eq(json_array_size(json_object_get(model_at(0), "rows")), 4);
    cr_assert_str_eq(text_of(row_at(0, 0), "what"), "verdict");
    cr_assert_str_eq(text_of(row_at(0, 1), "what"), "end to end");
    cr_assert_str_eq(text_of(row_at(0, 2), "op"), "tapml.silu");
    cr_assert_str_eq(text_of(cell_at(0, 0), "state"), "wrong");
    cr_assert_str_eq(text_of(cell_at(1, 0), "state"), "right");
    cr_assert_str_eq(text_of(cell_at(2, 0), "state"), "wrong");
    cr_assert_str_eq(text_of(cell_at(2, 0), "margin"), "Infinity");
    cr_assert_str_eq(text_of(cell_at(3, 0), "state"), "right");
    cr_assert_str_eq(text_of(cell_at(3, 0), "link"), "runs/monday.html#target-1");
    cr_assert_eq(json_array_size(json_object_get(cell_at(3, 0), "earlier")), 0);
}

Test(matrix, the_last_run_counts_and_those_before_are_listed)
{
    json_t *later = json_deep_copy(report);
    json_t *instances = json_object_get(target_of(later), "instances");

    set(target_of(later), "verdict", "right");
    set(json_array_get(instances, 0), "state", "right");
    cr_assert_eq(make(report, later, MATRIX_BY_TARGET), TAPML_OK);
    cr_assert_eq(json_array_size(json_object_get(matrix, "models")), 1);
    cr_assert_str_eq(text_of(cell_at(0, 0), "state"), "right");
    cr_assert_str_eq(text_of(cell_at(2, 0), "state"), "right");
    cr_assert(json_is_null(json_object_get(cell_at(2, 0), "link")), "the second has no report");
    const json_t *earlier = json_object_get(cell_at(2, 0), "earlier");

    cr_assert_eq(json_array_size(earlier), 1);
    cr_assert_eq(json_integer_value(json_array_get(earlier, 0)), 0);
    json_decref(later);
}

Test(matrix, columns_are_targets_or_devices)
{
    json_t *later = json_deep_copy(report);

    set(target_of(later), "name", "phone");
    cr_assert_eq(make(report, later, MATRIX_BY_TARGET), TAPML_OK);
    cr_assert_eq(json_array_size(json_object_get(model_at(0), "columns")), 2);
    cr_assert(json_is_null(json_object_get(
                  json_array_get(json_object_get(row_at(0, 2), "cells"), 0), "earlier")) == 0);
    cr_assert_eq(make(report, later, MATRIX_BY_DEVICE), TAPML_OK);
    cr_assert_eq(json_array_size(json_object_get(model_at(0), "columns")), 1);
    set(target_of(later), "device_name", "another card");
    cr_assert_eq(make(report, later, MATRIX_BY_DEVICE), TAPML_OK);
    cr_assert_eq(json_array_size(json_object_get(model_at(0), "columns")), 2);
    cr_assert(json_is_object(cell_at(2, 1)));
    json_decref(later);
}

Test(matrix, models_are_told_apart_by_their_bytes)
{
    json_t *later = json_deep_copy(report);

    set(json_object_get(later, "model"), "hash", "other");
    cr_assert_eq(make(report, later, MATRIX_BY_TARGET), TAPML_OK);
    cr_assert_eq(json_array_size(json_object_get(matrix, "models")), 2);
    json_decref(later);
}

Test(matrix, a_target_that_was_given_up_hides_no_earlier_result_of_an_operator)
{
    json_t *later = json_deep_copy(report);
    const char *name = text_of(target_of(report), "name");

    cr_assert_eq(json_array_clear(json_object_get(later, "targets")), 0);
    cr_assert_eq(json_object_set_new(later, "given_up",
                                     json_pack("[{s:s,s:s,s:s}]", "name", name, "backend", "two",
                                               "reason", "it went away")),
                 0);
    cr_assert_eq(make(report, later, MATRIX_BY_TARGET), TAPML_OK);
    cr_assert_str_eq(text_of(cell_at(0, 0), "state"), "given up");
    cr_assert_str_eq(text_of(cell_at(2, 0), "state"), "wrong");
    cr_assert_eq(json_integer_value(json_object_get(cell_at(2, 0), "run")), 0);
    json_decref(later);
}

Test(matrix, lack_of_memory_leaves_nothing)
{
    json_t *later = json_deep_copy(report);

    cr_assert_eq(make(report, NULL, MATRIX_BY_TARGET), TAPML_OK);
    json_decref(matrix);
    matrix = NULL;
    SCRATCH_SWEEP(make(report, later, MATRIX_BY_TARGET));
    json_decref(later);
}
