// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Points of a seed in clusters, and graphs of them.
#pragma once

#include "base/alloc.h"
#include "base/arena.h"
#include "base/random.h"
#include "choose/nearest.h"

#include <criterion/criterion.h>
#include <math.h>

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

enum { MADE_DIMENSIONS = 6 };

struct made_points {
    struct arena *arena;
    float *values;
    uint32_t *groups;
    struct nearest_points points;
};

// `count` points in `clusters` clusters, dealt to `groups` groups in turn.
static inline struct made_points made_points(size_t count, size_t clusters, size_t groups)
{
    struct made_points made = {.arena = arena_create()};
    struct random random;
    float centres[64][MADE_DIMENSIONS];
    cr_assert(made.arena && clusters <= 64);
    made.values = arena_array(made.arena, count * MADE_DIMENSIONS + 1, sizeof(float));
    made.groups = arena_array(made.arena, count + 1, sizeof(uint32_t));
    random_init(&random, 7);
    for (size_t i = 0; i < clusters * MADE_DIMENSIONS; i++) {
        centres[i / MADE_DIMENSIONS][i % MADE_DIMENSIONS] = (float)random_between(&random, -3, 3);
    }
    for (size_t i = 0; i < count; i++) {
        const size_t cluster = (size_t)random_below(&random, clusters);
        for (size_t axis = 0; axis < MADE_DIMENSIONS; axis++) {
            made.values[i * MADE_DIMENSIONS + axis] =
                centres[cluster][axis] + (float)random_between(&random, -0.5, 0.5);
        }
        made.groups[i] = (uint32_t)(i % groups);
    }
    made.points = (struct nearest_points){made.values, MADE_DIMENSIONS, made.groups, count};
    return made;
}

static inline double made_square(const struct made_points *made, size_t a, size_t b)
{
    double sum = 0;
    for (size_t axis = 0; axis < MADE_DIMENSIONS; axis++) {
        const double difference = (double)made->values[a * MADE_DIMENSIONS + axis] -
                                  (double)made->values[b * MADE_DIMENSIONS + axis];
        sum += difference * difference;
    }
    return sum;
}
