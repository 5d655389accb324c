// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "graph/view.h"

#include "schema/layout.h"

#include <string.h>

int view_is_bounded(const struct affine *a)
{
    int is_bounded = a->constant <= VIEW_PART_MAX && a->constant >= -VIEW_PART_MAX;

    for (unsigned k = 0; k < AFFINE_SYMBOLS; k++) {
        is_bounded = is_bounded && a->factor[k] <= VIEW_PART_MAX && a->factor[k] >= -VIEW_PART_MAX;
    }
    return is_bounded;
}

static tapml_status check_bounded(const struct affine *a, const char *what, uint32_t axis)
{
    return view_is_bounded(a)
               ? TAPML_OK
               : status_fail(TAPML_INVALID, "the %s of axis %u is too large", what, axis);
}

// An extent known now is at least 1.
static tapml_status check_extent(const struct affine *extent, uint32_t axis)
{
    if (affine_is_constant(extent) && extent->constant < 1) {
        return status_fail(TAPML_INVALID, "the extent of axis %u is %lld, expected at least 1",
                           axis, (long long)extent->constant);
    }
    return check_bounded(extent, "extent", axis);
}

tapml_status view_dense(struct view *view)
{
    struct affine stride = affine_constant(1);
    struct view dense = *view;

    dense.offset = affine_constant(0);
    for (uint32_t i = view->rank; i-- > 0;) {
        TAPML_TRY(check_extent(&view->shape[i], i));
        TAPML_TRY(check_bounded(&stride, "stride", i));
        dense.stride[i] = stride;
        // Nothing lies outside of the first axis, so there the product may be what it likes.
        if (i > 0) {
            TAPML_TRY(affine_multiply(&stride, &view->shape[i], &stride));
        }
    }
    *view = dense;
    return TAPML_OK;
}

static tapml_status check_axis(const struct view *view, uint32_t axis)
{
    return axis < view->rank
               ? TAPML_OK
               : status_fail(TAPML_INVALID, "axis %u of a value of rank %u", axis, view->rank);
}

tapml_status
view_slice(struct view *view, uint32_t axis, const struct affine *begin, const struct affine *end)
{
    struct affine extent;
    struct affine rest;
    struct affine offset;

    TAPML_TRY(check_axis(view, axis));
    TAPML_TRY(affine_subtract(end, begin, &extent));
    TAPML_TRY(affine_subtract(&view->shape[axis], end, &rest));
    TAPML_TRY(check_extent(&extent, axis));
    if ((affine_is_constant(begin) && begin->constant < 0) ||
        (affine_is_constant(&rest) && rest.constant < 0)) {
        char begin_text[80];
        char end_text[80];
        char extent_text[80];

        affine_text(begin, begin_text, sizeof(begin_text));
        affine_text(end, end_text, sizeof(end_text));
        affine_text(&view->shape[axis], extent_text, sizeof(extent_text));
        return status_fail(TAPML_INVALID, "slice %s .. %s of axis %u, which is %s long", begin_text,
                           end_text, axis, extent_text);
    }
    TAPML_TRY(affine_multiply(begin, &view->stride[axis], &offset));
    TAPML_TRY(affine_add(&offset, &view->offset, &offset));
    TAPML_TRY(check_bounded(&offset, "offset", axis));
    view->offset = offset;
    view->shape[axis] = extent;
    return TAPML_OK;
}

tapml_status view_transpose(struct view *view, const uint32_t *axes, uint32_t rank)
{
    struct view turned = *view;
    unsigned seen = 0;

    if (rank != view->rank) {
        return status_fail(TAPML_INVALID, "%u axes for a value of rank %u", rank, view->rank);
    }
    for (uint32_t k = 0; k < rank; k++) {
        TAPML_TRY(check_axis(view, axes[k]));
        if ((seen & (1u << axes[k])) != 0) {
            return status_fail(TAPML_INVALID, "axis %u stands twice", axes[k]);
        }
        seen |= 1u << axes[k];
        turned.shape[k] = view->shape[axes[k]];
        turned.stride[k] = view->stride[axes[k]];
    }
    *view = turned;
    return TAPML_OK;
}

tapml_status view_repeat(struct view *view, uint32_t axis, const struct affine *times)
{
    TAPML_TRY(check_axis(view, axis));
    TAPML_TRY(check_extent(times, axis));
    if (!affine_is(&view->shape[axis], 1)) {
        char text[80];

        affine_text(&view->shape[axis], text, sizeof(text));
        return status_fail(TAPML_INVALID, "axis %u is %s long, only one of extent 1 is repeated",
                           axis, text);
    }
    view->shape[axis] = *times;
    view->stride[axis] = affine_constant(0);
    return TAPML_OK;
}

// A point at which no symbol is zero and different products are very likely different numbers:
// there the smaller of two extents is known.
static const struct affine_point somewhere = {{1009, 10007, 523, 65537}};

// Walks two shapes side by side, in groups of axes with the same number of elements.
struct walk {
    struct view *view; // The old axes, without those of extent 1.
    const struct affine *shape;
    uint32_t rank;
    uint32_t old, new; // The first axes of the groups.
};

static tapml_status differs(void)
{
    return status_fail(TAPML_INVALID, "the numbers of elements differ");
}

// The next group is old axes walk->old .. *out_old - 1 and new ones walk->new .. *out_new - 1.
static tapml_status group_find(const struct walk *walk, uint32_t *out_old, uint32_t *out_new)
{
    uint32_t old = walk->old;
    uint32_t new = walk->new;
    struct affine old_size = walk->view->shape[old++];
    struct affine new_size = walk->shape[new ++];

    while (!affine_equal(&old_size, &new_size)) {
        const int64_t old_value = affine_at(&old_size, &somewhere);
        const int64_t new_value = affine_at(&new_size, &somewhere);

        if (old_value < new_value && old < walk->view->rank) {
            TAPML_TRY(affine_multiply(&old_size, &walk->view->shape[old++], &old_size));
        } else if (new_value < old_value && new < walk->rank) {
            TAPML_TRY(affine_multiply(&new_size, &walk->shape[new ++], &new_size));
        } else {
            return differs();
        }
        if (!view_is_bounded(&old_size) || !view_is_bounded(&new_size)) {
            return status_fail(TAPML_INVALID, "the number of elements is too large");
        }
    }
    *out_old = old;
    *out_new = new;
    return TAPML_OK;
}

// Strides for the new axes of a group, from the innermost old one outwards.
static tapml_status group_strides(const struct walk *walk,
                                  uint32_t old_end,
                                  uint32_t new_end,
                                  struct affine *out_stride)
{
    struct affine stride = walk->view->stride[old_end - 1];

    for (uint32_t i = new_end; i-- > walk->new;) {
        out_stride[i] = stride;
        if (i > walk->new) {
            TAPML_TRY(affine_multiply(&stride, &walk->shape[i], &stride));
            TAPML_TRY(check_bounded(&stride, "stride", i));
        }
    }
    return TAPML_OK;
}

static void drop_ones(struct view *view)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < view->rank; i++) {
        if (!affine_is(&view->shape[i], 1)) {
            view->shape[kept] = view->shape[i];
            view->stride[kept++] = view->stride[i];
        }
    }
    view->rank = kept;
}

static tapml_status reshape_groups(struct walk *walk, struct affine *out_stride, int *out_fits)
{
    int fits = 1;

    for (;;) {
        uint32_t old_end = 0;
        uint32_t new_end = 0;

        while (walk->new < walk->rank && affine_is(&walk->shape[walk->new], 1)) {
            out_stride[walk->new ++] = affine_constant(1);
        }
        if (walk->old == walk->view->rank && walk->new == walk->rank) {
            *out_fits = fits;
            return TAPML_OK;
        }
        if (walk->old == walk->view->rank || walk->new == walk->rank) {
            return differs();
        }
        TAPML_TRY(group_find(walk, &old_end, &new_end));
        fits = fits && layout_runs(walk->view->shape + walk->old, walk->view->stride + walk->old,
                                   old_end - walk->old) == 1;
        TAPML_TRY(group_strides(walk, old_end, new_end, out_stride));
        walk->old = old_end;
        walk->new = new_end;
    }
}

tapml_status
view_reshape(struct view *view, const struct affine *shape, uint32_t rank, int *out_fits)
{
    struct view old = *view;
    struct walk walk = {.view = &old, .shape = shape, .rank = rank};
    struct affine stride[TAPML_MAX_RANK];

    if (rank > TAPML_MAX_RANK) {
        return status_fail(TAPML_INVALID, "rank %u, at most %u are allowed", rank, TAPML_MAX_RANK);
    }
    for (uint32_t i = 0; i < rank; i++) {
        TAPML_TRY(check_extent(&shape[i], i));
    }
    drop_ones(&old);
    TAPML_TRY(reshape_groups(&walk, stride, out_fits));
    if (*out_fits) {
        view->rank = rank;
        for (uint32_t i = 0; i < rank; i++) {
            view->shape[i] = shape[i];
            view->stride[i] = stride[i];
        }
    }
    return TAPML_OK;
}
