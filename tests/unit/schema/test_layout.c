// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "schema/layout.h"

#include <criterion/criterion.h>

enum { RANK_MAX = 4 };

struct numbers {
    struct affine values[RANK_MAX];
};

static struct numbers numbers(const int64_t *list, uint32_t rank)
{
    struct numbers made = {0};

    for (uint32_t i = 0; i < rank; i++) {
        made.values[i] = affine_constant(list[i]);
    }
    return made;
}

static int fits(const char *name, uint32_t rank, const int64_t *shape, const int64_t *stride)
{
    enum layout layout = LAYOUT_DENSE;

    const struct numbers extents = numbers(shape, rank);
    const struct numbers steps = numbers(stride, rank);

    cr_assert(layout_find(name, &layout));
    return layout_fits(layout, extents.values, steps.values, rank);
}

Test(layout, dense_is_one_run_from_stride_1)
{
    cr_assert(fits("dense", 2, (int64_t[]){3, 4}, (int64_t[]){4, 1}));
    cr_assert(fits("dense", 3, (int64_t[]){3, 1, 4}, (int64_t[]){4, 99, 1}), "extent 1");
    cr_assert(fits("dense", 2, (int64_t[]){0, 4}, (int64_t[]){9, 9}), "nothing is in it");
    cr_assert(fits("dense", 0, NULL, NULL));
    cr_assert_not(fits("dense", 2, (int64_t[]){3, 4}, (int64_t[]){8, 1}));
    cr_assert_not(fits("dense", 2, (int64_t[]){3, 4}, (int64_t[]){1, 3}));
}

Test(layout, rows_have_a_contiguous_axis_and_two_strides)
{
    cr_assert(fits("rows", 2, (int64_t[]){3, 4}, (int64_t[]){8, 1}));
    cr_assert(fits("rows", 3, (int64_t[]){2, 3, 4}, (int64_t[]){4, 8, 1}));
    cr_assert_not(fits("rows", 2, (int64_t[]){3, 4}, (int64_t[]){1, 3}));
    cr_assert_not(fits("rows", 4, (int64_t[]){2, 2, 2, 4}, (int64_t[]){8, 64, 16, 1}));
    cr_assert(fits("strided", 4, (int64_t[]){2, 2, 2, 4}, (int64_t[]){8, 64, 16, 3}));
}

Test(layout, what_symbols_leave_open_does_not_fit)
{
    const struct affine tokens = {0, {1, 0, 0, 0}};
    const struct affine one = affine_constant(1);
    const struct affine shape[] = {tokens, tokens};

    cr_assert(layout_fits(LAYOUT_DENSE, shape, (struct affine[]){tokens, one}, 2));
    cr_assert_not(layout_fits(LAYOUT_DENSE, shape, (struct affine[]){one, tokens}, 2));
    cr_assert_not(layout_fits(LAYOUT_ROWS, shape, (struct affine[]){one, tokens}, 2));
}

Test(layout, names)
{
    enum layout layout = LAYOUT_DENSE;

    cr_assert(layout_find("strided", &layout));
    cr_assert_eq(layout, LAYOUT_STRIDED);
    cr_assert_not(layout_find("column", &layout));
    cr_assert_not(layout_find("", &layout));
}

Test(layout, runs)
{
    const struct numbers shape = numbers((int64_t[]){2, 3, 1, 4}, 4);
    const struct numbers dense = numbers((int64_t[]){12, 4, 7, 1}, 4);
    const struct numbers gaps = numbers((int64_t[]){24, 8, 7, 1}, 4);

    cr_assert_eq(layout_runs(shape.values, dense.values, 4), 1);
    cr_assert_eq(layout_runs(shape.values, gaps.values, 4), 2);
    cr_assert_eq(layout_runs(shape.values, gaps.values, 0), 0);
}
