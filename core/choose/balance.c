// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "choose/balance.h"

#include "base/arena.h"
#include "base/assert.h"

#include <string.h>

// Signs the difference of a pair; whether its first point has the plus.
static int sign_pair(const struct balance_points *points, uint32_t a, uint32_t b, double *sum)
{
    const float *one = points->values + (size_t)a * points->dimensions;
    const float *other = points->values + (size_t)b * points->dimensions;
    double product = 0;
    for (size_t i = 0; i < points->dimensions; i++) {
        product += sum[i] * ((double)one[i] - (double)other[i]);
    }
    const double sign = product <= 0 ? 1 : -1;
    for (size_t i = 0; i < points->dimensions; i++) {
        sum[i] += sign * ((double)one[i] - (double)other[i]);
    }
    return sign > 0;
}

static void
pass(const struct balance_points *points, const uint32_t *order, double *sum, uint32_t *out_order)
{
    size_t left = 0, right = points->count;
    memset(sum, 0, points->dimensions * sizeof(*sum));
    for (size_t i = 0; i + 1 < points->count; i += 2) {
        const int is_first = sign_pair(points, order[i], order[i + 1], sum);
        out_order[left++] = is_first ? order[i] : order[i + 1];
        out_order[--right] = is_first ? order[i + 1] : order[i];
    }
    if (left < right) { // One without another.
        out_order[left] = order[points->count - 1];
    }
}

tapml_status balance_run(const struct balance_points *points, size_t passes, uint32_t *io_order)
{
    struct arena *arena = arena_create();
    uint32_t *next = arena ? arena_array(arena, points->count + 1, sizeof(*next)) : NULL;
    double *sum = arena ? arena_array(arena, points->dimensions + 1, sizeof(*sum)) : NULL;
    ASSERT(points->count < UINT32_MAX);
    if (!next || !sum) {
        arena_destroy(arena);
        return status_no_memory();
    }
    for (size_t i = 0; i < passes; i++) {
        pass(points, io_order, sum, next);
        memcpy(io_order, next, points->count * sizeof(*next));
    }
    arena_destroy(arena);
    return TAPML_OK;
}
