// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "graph/view.h"
#include "schema/layout.h"

#include <criterion/criterion.h>
#include <string.h>

static const struct affine tokens = {0, {1, 0, 0, 0}};
static const struct affine capacity = {0, {0, 0, 0, 1}};

static struct affine number(int64_t value)
{
    return affine_constant(value);
}

// A dense value; extent 0 stands for T, -1 for C.
static struct view dense(uint32_t rank, const int64_t *shape)
{
    struct view view = {.rank = rank};

    for (uint32_t i = 0; i < rank; i++) {
        view.shape[i] = shape[i] == 0 ? tokens : shape[i] == -1 ? capacity : number(shape[i]);
    }
    cr_assert_eq(view_dense(&view), TAPML_OK, "%s", status_message());
    return view;
}

#define DENSE(...)                                                                                 \
    dense((uint32_t)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (int64_t[]){__VA_ARGS__})

static int fits(const struct view *view, const char *layout)
{
    enum layout found = LAYOUT_DENSE;

    cr_assert(layout_find(layout, &found));
    return layout_fits(found, view->shape, view->stride, view->rank);
}

// Reshapes to numbers, 0 standing for T; whether it needs no copy.
static int reshape(struct view *view, uint32_t rank, const int64_t *shape)
{
    struct affine extents[TAPML_MAX_RANK];
    int without_copy = -1;

    for (uint32_t i = 0; i < rank; i++) {
        extents[i] = shape[i] == 0 ? tokens : number(shape[i]);
    }
    cr_assert_eq(view_reshape(view, extents, rank, &without_copy), TAPML_OK, "%s",
                 status_message());
    return without_copy;
}

#define RESHAPE(view, ...)                                                                         \
    reshape(view, (uint32_t)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)),                  \
            (int64_t[]){__VA_ARGS__})

Test(view, dense_strides)
{
    const struct view view = DENSE(0, 4, 8);

    cr_assert_eq(view.stride[0].constant, 32);
    cr_assert_eq(view.stride[1].constant, 8);
    cr_assert_eq(view.stride[2].constant, 1);
    cr_assert(fits(&view, "dense"));
    cr_assert(fits(&view, "rows"));
    cr_assert(fits(&view, "strided"));
}

Test(view, strides_that_are_not_affine_are_refused)
{
    struct view view = {.rank = 3, .shape = {number(2), tokens, tokens}};

    cr_assert_eq(view_dense(&view), TAPML_INVALID);
    view.shape[1] = number(3);
    cr_assert_eq(view_dense(&view), TAPML_OK);
    cr_assert_eq(view.stride[0].factor[AFFINE_TOKENS], 3);
    view.shape[1] = number((int64_t)1 << 41);
    cr_assert_eq(view_dense(&view), TAPML_INVALID);
    view.shape[1] = number(0);
    cr_assert_eq(view_dense(&view), TAPML_INVALID);
}

Test(view, slices)
{
    struct view view = DENSE(0, 12);
    const struct affine four = number(4);
    const struct affine eight = number(8);
    const struct affine thirteen = number(13);
    const struct affine minus = number(-1);
    struct affine before_last = tokens;

    before_last.constant = -1;
    cr_assert_eq(view_slice(&view, 1, &four, &eight), TAPML_OK);
    cr_assert_eq(view.offset.constant, 4);
    cr_assert_eq(view.shape[1].constant, 4);
    cr_assert_not(fits(&view, "dense"));
    cr_assert(fits(&view, "rows"));

    // The last token, whatever T is.
    cr_assert_eq(view_slice(&view, 0, &before_last, &tokens), TAPML_OK);
    cr_assert(affine_is_constant(&view.shape[0]));
    cr_assert_eq(view.shape[0].constant, 1);
    cr_assert_eq(view.offset.factor[AFFINE_TOKENS], 12);
    cr_assert_eq(view.offset.constant, 4 - 12);

    view = DENSE(0, 12);
    cr_assert_eq(view_slice(&view, 1, &eight, &eight), TAPML_INVALID);
    cr_assert_eq(view_slice(&view, 1, &eight, &thirteen), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "slice 8 .. 13 of axis 1, which is 12 long"), "%s",
                       status_message());
    cr_assert_eq(view_slice(&view, 1, &minus, &four), TAPML_INVALID);
    cr_assert_eq(view_slice(&view, 2, &four, &eight), TAPML_INVALID);
    cr_assert_eq(view.shape[1].constant, 12, "changed although it failed");
}

Test(view, layouts_of_transposed_and_repeated_values)
{
    struct view view = DENSE(0, 4, 8);
    const struct affine three = number(3);

    cr_assert_eq(view_transpose(&view, (uint32_t[]){1, 0, 2}, 3), TAPML_OK);
    cr_assert_eq(view.shape[0].constant, 4);
    cr_assert(affine_equal(&view.shape[1], &tokens));
    cr_assert_not(fits(&view, "dense"));
    cr_assert(fits(&view, "rows"), "two outer strides");
    cr_assert_eq(view_transpose(&view, (uint32_t[]){0, 2, 1}, 3), TAPML_OK);
    cr_assert_not(fits(&view, "rows"), "the last axis is not contiguous");
    cr_assert(fits(&view, "strided"));

    view = DENSE(0, 1, 8);
    cr_assert_eq(view_repeat(&view, 1, &three), TAPML_OK);
    cr_assert_eq(view.stride[1].constant, 0);
    cr_assert(fits(&view, "rows"));
    cr_assert_eq(view_repeat(&view, 1, &three), TAPML_INVALID);

    // Three outer strides are one too many; the dense ones run together.
    view = DENSE(2, 3, 4, 5);
    cr_assert_eq(view_transpose(&view, (uint32_t[]){1, 0, 2, 3}, 4), TAPML_OK);
    cr_assert_not(fits(&view, "rows"));
    view = DENSE(2, 3, 4, 5);
    cr_assert_eq(view_transpose(&view, (uint32_t[]){1, 2, 0, 3}, 4), TAPML_OK);
    cr_assert(fits(&view, "rows"), "axes 1 and 2 continue each other");

    view = DENSE(2, 3);
    cr_assert_eq(view_transpose(&view, (uint32_t[]){0, 0}, 2), TAPML_INVALID);
    cr_assert_eq(view_transpose(&view, (uint32_t[]){0, 2}, 2), TAPML_INVALID);
    cr_assert_eq(view_transpose(&view, (uint32_t[]){0}, 1), TAPML_INVALID);
}

Test(view, axes_of_extent_one_do_not_count)
{
    struct view view = DENSE(2, 1, 3, 1);

    view.stride[1] = number(77);
    view.stride[3] = number(55);
    cr_assert(fits(&view, "dense"));
    cr_assert(fits(&view, "rows"));
}

Test(view, heads_are_split_and_joined)
{
    struct view view = DENSE(0, 12);

    cr_assert_eq(RESHAPE(&view, 0, 3, 4), 1);
    cr_assert_eq(view.stride[0].constant, 12);
    cr_assert_eq(view.stride[1].constant, 4);
    cr_assert_eq(view.stride[2].constant, 1);
    cr_assert_eq(RESHAPE(&view, 0, 2, 6), 1);
    cr_assert_eq(view.stride[1].constant, 6);
    cr_assert_eq(RESHAPE(&view, 1, 0, 1, 12), 1);
    cr_assert_eq(view.rank, 4);
    cr_assert_eq(RESHAPE(&view, 0, 12), 1);
    cr_assert(fits(&view, "dense"));
}

Test(view, a_reshape_keeps_strides_where_it_can)
{
    const struct affine four = number(4);
    const struct affine eight = number(8);
    struct view view = DENSE(0, 12);

    // The middle third of a fused row still splits into heads.
    cr_assert_eq(view_slice(&view, 1, &four, &eight), TAPML_OK);
    cr_assert_eq(RESHAPE(&view, 0, 2, 2), 1);
    cr_assert_eq(view.stride[0].constant, 12);
    cr_assert_eq(view.stride[1].constant, 2);
    cr_assert_eq(view.offset.constant, 4);

    // Its rows do not run together.
    cr_assert_eq(reshape(&view, 2, (int64_t[]){0, 4}), 1);
    const struct affine four_tokens = {0, {4, 0, 0, 0}};
    int without_copy = -1;
    cr_assert_eq(view_reshape(&view, &four_tokens, 1, &without_copy), TAPML_OK);
    cr_assert_eq(without_copy, 0);
    cr_assert_eq(view.rank, 2, "changed although it needs a copy");

    // Heads that were turned in front do not join.
    view = DENSE(0, 3, 4);
    cr_assert_eq(view_transpose(&view, (uint32_t[]){1, 0, 2}, 3), TAPML_OK);
    cr_assert_eq(view_reshape(&view, (struct affine[]){{0, {3, 0, 0, 0}}, four}, 2, &without_copy),
                 TAPML_OK);
    cr_assert_eq(without_copy, 0);
}

Test(view, symbols_are_regrouped)
{
    const struct affine twice = {0, {2, 0, 0, 0}};
    struct view view = DENSE(2, 0, 3);
    int without_copy = 0;

    cr_assert_eq(view_reshape(&view, (struct affine[]){tokens, number(6)}, 2, &without_copy),
                 TAPML_OK);
    cr_assert_eq(without_copy, 1);
    cr_assert_eq(view.stride[0].constant, 6);
    cr_assert_eq(view_reshape(&view, (struct affine[]){twice, number(3)}, 2, &without_copy),
                 TAPML_OK);
    cr_assert_eq(without_copy, 1);
}

Test(view, numbers_of_elements_must_agree)
{
    struct view view = DENSE(0, 12);
    int without_copy = 0;
    const struct affine seven[] = {number(1), number(1), number(1), number(1),
                                   number(1), number(1), number(1)};

    cr_assert_eq(view_reshape(&view, (struct affine[]){tokens, number(11)}, 2, &without_copy),
                 TAPML_INVALID);
    cr_assert_eq(view_reshape(&view, (struct affine[]){capacity, number(12)}, 2, &without_copy),
                 TAPML_INVALID);
    cr_assert_eq(view_reshape(&view, (struct affine[]){tokens}, 1, &without_copy), TAPML_INVALID);
    cr_assert_eq(
        view_reshape(&view, (struct affine[]){tokens, number(12), number(2)}, 3, &without_copy),
        TAPML_INVALID);
    cr_assert_eq(view_reshape(&view, NULL, 0, &without_copy), TAPML_INVALID);
    cr_assert_eq(view_reshape(&view, seven, 7, &without_copy), TAPML_INVALID);
    view = DENSE(1, 1);
    cr_assert_eq(view_reshape(&view, NULL, 0, &without_copy), TAPML_OK);
    cr_assert_eq(view.rank, 0);
}
