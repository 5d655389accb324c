// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/sharding_view.h"

#include "base/assert.h"

// The elements from one index of the axis before to the next, and from one of the axis to the next.
struct span_of_axis {
    int64_t outer, inner;
};

int sharding_view_can_cut(const struct graph_value *base, uint32_t axis)
{
    for (uint32_t i = axis; i < base->rank; i++) {
        if (!affine_is_constant(&base->shape[i]) || base->shape[i].constant < 1) {
            return 0;
        }
    }
    return axis < base->rank && affine_is_constant(&base->stride[axis]);
}

static struct span_of_axis span_of(const struct graph_value *base, uint32_t axis)
{
    const int64_t inner = base->stride[axis].constant;
    return (struct span_of_axis){.outer = inner * base->shape[axis].constant, .inner = inner};
}

// Whether a stride goes within one index of the axis before the one that is cut.
static int is_within(const struct affine *stride, int64_t outer)
{
    return affine_is_constant(stride) && stride->constant > 0 && stride->constant < outer;
}

static int is_multiple(const struct affine *number, int64_t of)
{
    const struct affine divisor = affine_constant(of);
    struct affine quotient;
    return affine_divide(number, &divisor, &quotient) == TAPML_OK;
}

// Where an offset lies within one index of the axis before.
static int64_t offset_within(const struct affine *offset, int64_t outer)
{
    const int64_t rest = offset->constant % outer;
    return rest < 0 ? rest + outer : rest;
}

// The axis of the largest stride within; what is inside of it has to stay inside.
static uint32_t find_axis(const struct graph_value *view, const struct span_of_axis *span)
{
    uint32_t found = GRAPH_NONE;
    for (uint32_t i = 0; i < view->rank; i++) {
        const int is_walked = !affine_is(&view->shape[i], 1) && !affine_is(&view->stride[i], 0);
        if (is_walked && is_within(&view->stride[i], span->outer) &&
            (found == GRAPH_NONE || view->stride[i].constant > view->stride[found].constant)) {
            found = i;
        }
        if (is_walked && !is_within(&view->stride[i], span->outer) &&
            !is_multiple(&view->stride[i], span->outer)) {
            return GRAPH_NONE;
        }
    }
    return found;
}

// Whether what a view has inside of a step of the cut axis stays inside of it.
static int
stays_inside(const struct graph_value *view, const struct span_of_axis *span, uint32_t cut)
{
    int64_t last = offset_within(&view->offset, span->outer);
    for (uint32_t i = 0; i < view->rank; i++) {
        if (i == cut || !is_within(&view->stride[i], span->outer)) {
            continue;
        }
        if (!affine_is_constant(&view->shape[i])) {
            return 0;
        }
        last += (view->shape[i].constant - 1) * view->stride[i].constant;
    }
    return last < view->stride[cut].constant;
}

uint32_t
sharding_view_axis(const struct graph_value *base, uint32_t axis, const struct graph_value *view)
{
    if (!sharding_view_can_cut(base, axis)) {
        return GRAPH_NONE;
    }
    const struct span_of_axis span = span_of(base, axis);
    const struct affine outside = {.constant = view->offset.constant -
                                               offset_within(&view->offset, span.outer),
                                   .factor = {view->offset.factor[0], view->offset.factor[1],
                                              view->offset.factor[2], view->offset.factor[3]}};
    const uint32_t cut = find_axis(view, &span);
    if (cut == GRAPH_NONE || !affine_is_constant(&view->shape[cut]) ||
        view->stride[cut].constant * view->shape[cut].constant != span.outer ||
        !is_multiple(&outside, span.outer) || !stays_inside(view, &span, cut)) {
        return GRAPH_NONE;
    }
    return cut;
}

uint32_t sharding_view_base_axis(const struct graph_value *base,
                                 const struct graph_value *view,
                                 uint32_t view_axis)
{
    for (uint32_t axis = 0; axis < base->rank; axis++) {
        if (!affine_is(&base->shape[axis], 1) &&
            sharding_view_axis(base, axis, view) == view_axis) {
            return axis;
        }
    }
    return GRAPH_NONE;
}

// number / outer * part, which divides.
static tapml_status shrink(struct affine *number, int64_t outer, int64_t part)
{
    const struct affine divisor = affine_constant(outer), factor = affine_constant(part);
    TAPML_TRY(affine_divide(number, &divisor, number));
    return affine_multiply(number, &factor, number);
}

tapml_status sharding_view_part(
    const struct graph_value *base, uint32_t axis, int64_t begin, int64_t end, struct view *view)
{
    const struct span_of_axis span = span_of(base, axis);
    const int64_t part = span.inner * (end - begin);
    const int64_t within = offset_within(&view->offset, span.outer);
    struct graph_value whole = {.rank = view->rank};
    for (uint32_t i = 0; i < view->rank; i++) {
        whole.shape[i] = view->shape[i];
        whole.stride[i] = view->stride[i];
    }
    const uint32_t cut = find_axis(&whole, &span);
    ASSERT(cut != GRAPH_NONE && part % view->stride[cut].constant == 0);
    view->shape[cut] = affine_constant(part / view->stride[cut].constant);
    for (uint32_t i = 0; i < view->rank; i++) {
        if (!is_within(&view->stride[i], span.outer) && !affine_is(&view->stride[i], 0) &&
            is_multiple(&view->stride[i], span.outer)) {
            TAPML_TRY(shrink(&view->stride[i], span.outer, part));
        }
    }
    view->offset.constant -= within;
    TAPML_TRY(shrink(&view->offset, span.outer, part));
    view->offset.constant += within;
    return TAPML_OK;
}
