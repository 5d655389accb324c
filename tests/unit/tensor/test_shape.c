// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "tensor/shape.h"

#include <criterion/criterion.h>

Test(shape, elements_are_counted)
{
    int64_t count = 0;
    cr_assert_eq(shape_count(NULL, 0, &count), TAPML_OK);
    cr_assert_eq(count, 1);
    cr_assert_eq(shape_count((int64_t[]){3, 4, 5}, 3, &count), TAPML_OK);
    cr_assert_eq(count, 60);
    cr_assert_eq(shape_count((int64_t[]){INT64_MAX, INT64_MAX, 0}, 3, &count), TAPML_OK);
    cr_assert_eq(count, 0);
}

Test(shape, impossible_shapes_are_refused)
{
    int64_t count = 7;
    cr_assert_eq(shape_count((int64_t[]){3, -1}, 2, &count), TAPML_INVALID);
    cr_assert_eq(shape_count((int64_t[]){0, -1}, 2, &count), TAPML_INVALID);
    cr_assert_eq(shape_count((int64_t[]){1 << 30, 1 << 30, 8}, 3, &count), TAPML_INVALID);
    cr_assert_eq(count, 7);
}

Test(shape, dense_strides)
{
    int64_t stride[3];
    shape_dense_strides((int64_t[]){3, 4, 5}, 3, stride);
    cr_assert_arr_eq(stride, ((int64_t[]){20, 5, 1}), sizeof(stride));
    shape_dense_strides((int64_t[]){0, INT64_MAX, INT64_MAX}, 3, stride);
    cr_assert_eq(stride[2], 1);
    cr_assert_eq(stride[1], INT64_MAX);
}

Test(shape, dense_is_recognised)
{
    const int64_t shape[] = {3, 1, 5};
    cr_assert(shape_is_dense(shape, NULL, 3));
    cr_assert(shape_is_dense(shape, (int64_t[]){5, 5, 1}, 3));
    cr_assert(shape_is_dense(shape, (int64_t[]){5, 99, 1}, 3));
    cr_assert_not(shape_is_dense(shape, (int64_t[]){6, 5, 1}, 3));
    cr_assert_not(shape_is_dense(shape, (int64_t[]){1, 3, 3}, 3));
    cr_assert_not(shape_is_dense(shape, (int64_t[]){0, 0, 1}, 3));
    cr_assert(shape_is_dense((int64_t[]){0, 5}, (int64_t[]){9, 9}, 2));
    cr_assert(shape_is_dense(NULL, NULL, 0));
}

Test(shape, span_reaches_to_the_last_element)
{
    int64_t elements = 0;
    const int64_t shape[] = {3, 4};
    cr_assert_eq(shape_span(shape, NULL, 2, &elements), TAPML_OK);
    cr_assert_eq(elements, 12);
    cr_assert_eq(shape_span(shape, (int64_t[]){10, 1}, 2, &elements), TAPML_OK);
    cr_assert_eq(elements, 24);
    cr_assert_eq(shape_span(shape, (int64_t[]){0, 0}, 2, &elements), TAPML_OK);
    cr_assert_eq(elements, 1);
    cr_assert_eq(shape_span((int64_t[]){3, 0}, (int64_t[]){10, 1}, 2, &elements), TAPML_OK);
    cr_assert_eq(elements, 0);
    cr_assert_eq(shape_span(NULL, NULL, 0, &elements), TAPML_OK);
    cr_assert_eq(elements, 1);
}

Test(shape, spans_that_do_not_fit_are_refused)
{
    int64_t elements = 7;
    const int64_t shape[] = {3, 4};
    cr_assert_eq(shape_span(shape, (int64_t[]){INT64_MAX, 1}, 2, &elements), TAPML_INVALID);
    cr_assert_eq(shape_span(shape, (int64_t[]){INT64_MAX / 2, 1}, 2, &elements), TAPML_INVALID);
    cr_assert_eq(shape_span(shape, (int64_t[]){-1, 1}, 2, &elements), TAPML_INVALID);
    cr_assert_eq(elements, 7);
}

Test(shape, text_is_cut_where_it_must_be)
{
    char text[32];
    shape_text((int64_t[]){3, 4}, 2, text, sizeof(text));
    cr_assert_str_eq(text, "[3, 4]");
    shape_text(NULL, 0, text, sizeof(text));
    cr_assert_str_eq(text, "[]");
    shape_text((int64_t[]){123456, 4}, 2, text, 5);
    cr_assert_str_eq(text, "[123");
    shape_text((int64_t[]){3, 4}, 2, text, 6);
    cr_assert_str_eq(text, "[3, 4");
    shape_text((int64_t[]){3, 4}, 2, text, 1);
    cr_assert_str_eq(text, "");
    text[0] = 'x';
    shape_text((int64_t[]){3, 4}, 2, text, 0);
    cr_assert_eq(text[0], 'x');
}

Test(shape, extents_have_units_in_common)
{
    cr_assert_eq(shape_common_units(12, 18), 6);
    cr_assert_eq(shape_common_units(18, 12), 6);
    cr_assert_eq(shape_common_units(7, 3), 1);
    cr_assert_eq(shape_common_units(0, 5), 5);
    cr_assert_eq(shape_common_units(5, 0), 5);
}
