// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/report.h"
#include "report/report_grid.h"

#include <criterion/criterion.h>
#include <math.h>

Test(report_grid, layers_are_rows_and_what_stands_outside_shares_one)
{
    static struct report_line line[] = {{.op_name = "x.op"}};
    struct report_lines lines = {.items = line, .count = 1};
    const struct report_grid_item items[] = {
        {"embed", "x.op", "source", NAN},     {"layers.0/a", "x.op", "right", 0.5},
        {"layers.0/b", "x.op", "wrong", 7},   {"norm", "x.op", "right", NAN},
        {"head", "x.op", "unsupported", NAN},
    };
    table_init(&lines.index_of);
    cr_assert_eq(table_set(&lines.index_of, "x.op", 0), TAPML_OK);
    const struct report_maker grid = report_grid_make(items, 5, &lines);
    const json_t *rows = json_object_get(grid.object, "rows");
    const json_t *cell = json_array_get(json_object_get(json_array_get(rows, 1), "cells"), 0);

    cr_assert_eq(report_maker_finish(&grid), TAPML_OK);
    cr_assert_eq(json_array_size(rows), 3);
    cr_assert_str_eq(json_string_value(json_object_get(json_array_get(rows, 1), "name")),
                     "layers.0");
    cr_assert_str_eq(json_string_value(json_object_get(json_array_get(rows, 2), "name")),
                     "norm .. head");
    cr_assert_str_eq(json_string_value(json_object_get(cell, "state")), "wrong");
    cr_assert_eq(json_number_value(json_object_get(cell, "margin")), 7);
    cr_assert_eq(json_integer_value(json_object_get(cell, "instances")), 2);
    json_decref(grid.object);
    table_release(&lines.index_of);
}

Test(report_grid, what_is_wrong_ranks_first)
{
    cr_assert_eq(report_grid_rank("wrong"), 0);
    cr_assert_lt(report_grid_rank("unsupported"), report_grid_rank("right"));
}
