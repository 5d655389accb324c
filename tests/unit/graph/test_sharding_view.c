// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/sharding_view.h"

#include <criterion/criterion.h>

// A base of T rows of 24 values, or of 4 heads with 6 values.
static struct graph_value tokens(int64_t a, int64_t b)
{
    struct graph_value value = {.kind = GRAPH_COMPUTED, .rank = b > 0 ? 3 : 2};
    value.shape[0] = (struct affine){.factor = {1}};
    value.shape[1] = affine_constant(a);
    value.shape[2] = affine_constant(b);
    value.stride[0] = affine_constant(b > 0 ? a * b : a);
    value.stride[1] = affine_constant(b > 0 ? b : 1);
    value.stride[2] = affine_constant(1);
    return value;
}

static struct graph_value view(int64_t extent, int64_t stride, int64_t inner, int64_t offset)
{
    struct graph_value value = tokens(extent, inner);
    value.kind = GRAPH_VIEW;
    value.stride[0] = affine_constant(24);
    value.stride[1] = affine_constant(stride);
    value.stride[2] = affine_constant(1);
    value.offset = affine_constant(offset);
    return value;
}

Test(sharding_view, a_cut_is_found_in_views)
{
    const struct graph_value flat = tokens(24, 0), heads = tokens(4, 6);
    const struct graph_value as_heads = view(4, 6, 6, 0), half = view(4, 6, 3, 3);
    const struct graph_value slice = view(2, 6, 6, 12), shifted = view(4, 6, 6, 2);
    cr_expect_eq(sharding_view_axis(&flat, 1, &flat), 1);
    cr_expect_eq(sharding_view_axis(&flat, 1, &as_heads), 1);
    cr_expect_eq(sharding_view_axis(&flat, 1, &half), 1, "a part of each head");
    cr_expect_eq(sharding_view_axis(&heads, 1, &flat), 1, "heads as one axis");
    cr_expect_eq(sharding_view_axis(&flat, 1, &slice), GRAPH_NONE, "a slice of the axis");
    cr_expect_eq(sharding_view_axis(&flat, 1, &shifted), GRAPH_NONE, "over the end of a head");
    cr_expect_eq(sharding_view_axis(&heads, 2, &as_heads), 2);
    cr_expect_eq(sharding_view_axis(&flat, 0, &flat), GRAPH_NONE, "tokens are not cut");
    cr_expect_eq(sharding_view_base_axis(&heads, &as_heads, 1), 1);
    cr_expect_eq(sharding_view_base_axis(&heads, &flat, 1), 1);
    cr_expect_eq(sharding_view_base_axis(&flat, &slice, 1), GRAPH_NONE);
}

static struct view layout(const struct graph_value *value)
{
    struct view view = {.rank = value->rank, .offset = value->offset};
    for (uint32_t i = 0; i < value->rank; i++) {
        view.shape[i] = value->shape[i];
        view.stride[i] = value->stride[i];
    }
    return view;
}

Test(sharding_view, a_part_has_its_own_strides)
{
    const struct graph_value flat = tokens(24, 0), half = view(4, 6, 3, 24 + 3);
    struct view part = layout(&half);
    cr_assert_eq(sharding_view_part(&flat, 1, 12, 18, &part), TAPML_OK, "%s", status_message());
    cr_expect(affine_is(&part.shape[1], 1));
    cr_expect(affine_is(&part.shape[2], 3));
    cr_expect(affine_is(&part.stride[0], 6));
    cr_expect(affine_is(&part.stride[1], 6));
    cr_expect(affine_is(&part.offset, 6 + 3), "the second token, the second half of the head");
    part = layout(&flat);
    cr_assert_eq(sharding_view_part(&flat, 1, 0, 8, &part), TAPML_OK);
    cr_expect(affine_is(&part.shape[1], 8) && affine_is(&part.stride[0], 8));
}

Test(sharding_view, what_repeats_is_not_cut)
{
    const struct graph_value flat = tokens(24, 0);
    struct graph_value repeated = view(4, 6, 6, 0);
    repeated.stride[1] = affine_constant(0);
    cr_expect_eq(sharding_view_axis(&flat, 1, &repeated), GRAPH_NONE);
    repeated = view(4, 6, 6, 0);
    repeated.stride[0] = affine_constant(0);
    cr_expect_eq(sharding_view_axis(&flat, 1, &repeated), 1, "each token reads the same");
}
