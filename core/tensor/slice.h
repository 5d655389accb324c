// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A part of a tensor as people write it: "0, 2:5, :" is index 0, then 2 to 4, then all. Axes that
// are left out at the end are whole. A negative number counts from the end. Any thread.
#pragma once

#include "base/status.h"

#include <tapml/tensor.h>

struct slice {
    uint32_t rank;
    int64_t begin[TAPML_MAX_RANK], end[TAPML_MAX_RANK]; // Within the extents, begin <= end.
};

// Reads a part of a tensor of this shape; NULL is all of it. TAPML_INVALID names what is wrong and
// what the shape is.
tapml_status slice_parse(const char *text,
                         const int64_t *shape,
                         uint32_t rank,
                         struct slice *out_slice) STATUS_USED;

// How many elements it has.
uint64_t slice_count(const struct slice *slice);

// The indices of its element `number`, and where that is in a dense tensor of the shape.
size_t slice_at(const struct slice *slice,
                const int64_t *shape,
                uint64_t number,
                int64_t out_indices[TAPML_MAX_RANK]);
