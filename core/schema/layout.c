// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "schema/layout.h"

#include <string.h>

enum { OUTER_STRIDES_MAX = 2 }; // Of layout `rows`, beside the contiguous last axis.

// Whether an axis goes on where the one inside it, of this extent and stride, ends.
static int continues(const struct affine *stride,
                     const struct affine *inner_extent,
                     const struct affine *inner_stride)
{
    struct affine end;

    return affine_multiply(inner_extent, inner_stride, &end) == TAPML_OK &&
           affine_equal(&end, stride);
}

static int is_empty(const struct affine *shape, uint32_t rank)
{
    for (uint32_t i = 0; i < rank; i++) {
        if (affine_is(&shape[i], 0)) {
            return 1;
        }
    }
    return 0;
}

unsigned layout_runs(const struct affine *shape, const struct affine *stride, uint32_t count)
{
    unsigned runs = 0;
    uint32_t inner = count;

    for (uint32_t i = count; i-- > 0;) {
        if (affine_is(&shape[i], 1)) {
            continue;
        }
        runs += inner == count || !continues(&stride[i], &shape[inner], &stride[inner]);
        inner = i;
    }
    return runs;
}

int layout_find(const char *name, enum layout *out_layout)
{
    static const char *const names[] = {"dense", "rows", "strided"};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        if (strcmp(names[i], name) == 0) {
            *out_layout = (enum layout)i;
            return 1;
        }
    }
    return 0;
}

int layout_fits(enum layout layout,
                const struct affine *shape,
                const struct affine *stride,
                uint32_t rank)
{
    if (layout == LAYOUT_STRIDED || rank == 0 || is_empty(shape, rank)) {
        return 1;
    }

    const uint32_t last = rank - 1;
    const int is_contiguous = affine_is(&shape[last], 1) || affine_is(&stride[last], 1);

    if (layout == LAYOUT_ROWS) {
        return is_contiguous && layout_runs(shape, stride, last) <= OUTER_STRIDES_MAX;
    }

    // Dense: one run, whose innermost axis has stride 1.
    uint32_t inner = rank;

    while (inner > 0 && affine_is(&shape[inner - 1], 1)) {
        inner--;
    }
    return inner == 0 ||
           (affine_is(&stride[inner - 1], 1) && layout_runs(shape, stride, rank) == 1);
}
