// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Views of values that are cut into parts along an axis: where the cut is in a view, and the view
// of a part that corresponds to a view of the whole.
//
// A base value is dense. Pure arithmetic; extents, strides and offsets count elements.
#pragma once

#include "graph/graph.h"
#include "graph/view.h"

// Whether a dense value can be cut along an axis: it and those behind it have constant extents.
int sharding_view_can_cut(const struct graph_value *base, uint32_t axis);

// The axis of a view that is cut where its base is cut along `axis`; GRAPH_NONE where the view has
// not all of that axis, or no axis that goes along it alone. Both can be cut into as many equal
// shares as divide both extents.
uint32_t
sharding_view_axis(const struct graph_value *base, uint32_t axis, const struct graph_value *view);

// The other way: the axis of the base along which an axis of a view goes, or GRAPH_NONE.
uint32_t sharding_view_base_axis(const struct graph_value *base,
                                 const struct graph_value *view,
                                 uint32_t view_axis);

// Makes of a view of the whole that of a part with the elements begin .. end - 1 of `axis`, which
// lies dense by itself. The view has the cut, at a share of its extent that is a whole number.
tapml_status sharding_view_part(const struct graph_value *base,
                                uint32_t axis,
                                int64_t begin,
                                int64_t end,
                                struct view *view) STATUS_USED;
