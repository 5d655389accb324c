// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/alloc.h"
#include "harness/tensor_file.h"
#include "run/expected.h"

#include <math.h>

static const char header[] = "{'input_ids':{'dtype':'F32','shape':[3],'data_offsets':[0,12]},"
                             "'rows':{'dtype':'F32','shape':[2,2],'data_offsets':[12,28]}}  ";
static const float values[] = {1, 0, 7, 0.5f, -2, 3, 4};

Test(expected, rows_and_ids_are_read)
{
    struct scratch scratch;
    struct expected rows;
    int32_t *ids = NULL;
    int64_t count = 0;

    scratch_make(&scratch);
    struct checkpoint *file = tensor_file_open(&scratch, header, values, 7);

    cr_assert_eq(expected_read(file, "rows", 2, &rows), TAPML_OK, "%s", status_message());
    cr_assert(rows.rows == 2 && rows.width == 2 && rows.values[3] == 4);
    alloc_free(rows.values);
    cr_assert_eq(expected_read_ids(file, "input_ids", 7, &ids, &count), TAPML_OK);
    cr_assert(count == 3 && ids[2] == 7);
    alloc_free(ids);
    checkpoint_close(file);
    scratch_remove(&scratch);
}

Test(expected, what_does_not_fit_is_named)
{
    struct scratch scratch;
    struct expected rows;
    int32_t *ids = NULL;
    int64_t count = 0;

    scratch_make(&scratch);
    struct checkpoint *file = tensor_file_open(&scratch, header, values, 7);
    const size_t live = alloc_live();

    cr_assert_eq(expected_read(file, "rows", 1, &rows), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "'rows'"));
    cr_assert_eq(expected_read(file, "absent", 1, &rows), TAPML_INVALID);
    cr_assert_eq(expected_read_ids(file, "input_ids", 6, &ids, &count), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "0 .. 6"));
    cr_assert_eq(alloc_live(), live);
    checkpoint_close(file);
    scratch_remove(&scratch);
}

Test(expected, rows_have_the_error_of_the_worst)
{
    struct scratch scratch;
    double error = 0;

    scratch_make(&scratch);
    struct checkpoint *file = tensor_file_open(&scratch, header, values, 7);

    cr_assert_eq(expected_rows_error(file, "rows", (const float[]){0.5f, -1, 3, 4}, 2, 2, &error),
                 TAPML_OK);
    cr_assert_float_eq(error, 0.5, 1e-12);
    cr_assert_eq(expected_rows_error(file, "rows", values, 1, 4, &error), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "2 rows of 2 values"));
    checkpoint_close(file);
    scratch_remove(&scratch);
}

Test(expected, an_error_is_relative_to_the_largest_value_and_a_nan_is_infinite)
{
    cr_assert_float_eq(expected_row_error((const float[]){1, 4}, (const double[]){1, 8}, 2), 0.5,
                       1e-12);
    cr_assert_float_eq(expected_row_error((const float[]){0.25f}, (const double[]){0.5}, 1), 0.25,
                       1e-12);
    cr_assert(isinf(expected_row_error((const float[]){NAN}, (const double[]){1}, 1)));
    cr_assert(isinf(expected_row_error((const float[]){1}, (const double[]){NAN}, 1)));
}
