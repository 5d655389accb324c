// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "choose/balance.h"
#include "made_points.h"

enum { COUNT = 1000 };

// The largest distance of the mean of a prefix from the mean of all, in parts of its expectation.
static double worst_prefix(const struct made_points *made, const uint32_t *order)
{
    double all[MADE_DIMENSIONS] = {0}, sum[MADE_DIMENSIONS] = {0};
    double worst = 0;
    for (size_t i = 0; i < COUNT * MADE_DIMENSIONS; i++) {
        all[i % MADE_DIMENSIONS] += (double)made->values[i];
    }
    for (size_t i = 0; i < COUNT; i++) {
        double square = 0;
        for (size_t axis = 0; axis < MADE_DIMENSIONS; axis++) {
            sum[axis] += (double)made->values[order[i] * MADE_DIMENSIONS + axis];
            const double off = sum[axis] - all[axis] * (double)(i + 1) / COUNT;
            square += off * off;
        }
        worst = fmax(worst, sqrt(square));
    }
    return worst;
}

static void expect_permutation(const uint32_t *order, size_t count)
{
    uint8_t is_there[COUNT] = {0};
    for (size_t i = 0; i < count; i++) {
        cr_assert_lt(order[i], count);
        cr_assert_eq(is_there[order[i]], 0);
        is_there[order[i]] = 1;
    }
}

Test(balance, prefixes_are_like_the_whole)
{
    struct made_points made = made_points(COUNT, 10, 1);
    const struct balance_points points = {made.values, MADE_DIMENSIONS, COUNT};
    uint32_t order[COUNT];
    for (uint32_t i = 0; i < COUNT; i++) { // The points have a random order.
        order[i] = i;
    }
    const double before = worst_prefix(&made, order);
    MUST(balance_run(&points, BALANCE_PASSES, order));
    expect_permutation(order, COUNT);
    cr_expect_lt(worst_prefix(&made, order), before / 4, "%g of %g", worst_prefix(&made, order),
                 before);
    arena_destroy(made.arena);
}

Test(balance, an_odd_point_and_none_at_all_are_kept)
{
    struct made_points made = made_points(7, 2, 1);
    struct balance_points points = {made.values, MADE_DIMENSIONS, 7};
    uint32_t order[] = {6, 5, 4, 3, 2, 1, 0};
    MUST(balance_run(&points, 3, order));
    expect_permutation(order, 7);
    points.count = 1;
    order[0] = 0;
    MUST(balance_run(&points, 2, order));
    cr_expect_eq(order[0], 0);
    points.count = 0;
    MUST(balance_run(&points, 2, order));
    arena_destroy(made.arena);
}
