// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Views: other looks at the same memory, which compute nothing.
//
// Pure arithmetic on shapes, strides and offsets; strides and offsets count elements. A failed call
// leaves the layout as it was. Messages name the axis; the caller adds the value.
#pragma once

#include "base/status.h"
#include "schema/affine.h"

#include <tapml/tensor.h>

// How the elements of a value lie in the memory of its base.
struct view {
    uint32_t rank;
    struct affine shape[TAPML_MAX_RANK];
    struct affine stride[TAPML_MAX_RANK];
    struct affine offset;
};

// The parts of affine numbers in a graph stay within this, so that their values at any point whose
// numbers are below 2^20 fit in 64 bits.
#define VIEW_PART_MAX ((int64_t)1 << 40)

int view_is_bounded(const struct affine *a);

// Strides of the dense layout, last axis fastest, and offset 0. TAPML_INVALID where they are not
// affine, or too large.
tapml_status view_dense(struct view *view) STATUS_USED;

// Elements begin .. end - 1 of an axis. Constant bounds are checked; others at the call.
tapml_status view_slice(struct view *view,
                        uint32_t axis,
                        const struct affine *begin,
                        const struct affine *end) STATUS_USED;

// Axis k becomes what axes[k] was.
tapml_status view_transpose(struct view *view, const uint32_t *axes, uint32_t rank) STATUS_USED;

// An axis of extent 1 becomes `times` long, with stride 0.
tapml_status view_repeat(struct view *view, uint32_t axis, const struct affine *times) STATUS_USED;

// The same elements in the same order under another shape. `*out_fits` is 0, and the view as it
// was, where only a copy can do it. TAPML_INVALID where the numbers of elements differ.
tapml_status view_reshape(struct view *view,
                          const struct affine *shape,
                          uint32_t rank,
                          int *out_fits) STATUS_USED;
