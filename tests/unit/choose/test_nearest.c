// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "made_points.h"

// How many points of the group of `a` are nearer to it than `b` is.
static size_t count_nearer(const struct made_points *made, size_t a, size_t b)
{
    size_t count = 0;
    for (size_t i = 0; i < made->points.count; i++) {
        count += i != a && made->groups[i] == made->groups[a] &&
                 made_square(made, a, i) < made_square(made, a, b) * (1 - 1e-6);
    }
    return count;
}

Test(nearest, edges_are_those_of_the_nearest_in_a_group_and_have_both_directions)
{
    enum { COUNT = 400, NEAREST = 5 };
    struct made_points made = made_points(COUNT, 8, 3);
    struct nearest_graph graph;
    MUST(nearest_find(&made.points, NEAREST, made.arena, &graph));
    for (uint32_t i = 0; i < COUNT; i++) {
        size_t near = 0;
        cr_expect_geq(graph.begin[i + 1] - graph.begin[i], NEAREST);
        for (uint64_t at = graph.begin[i]; at < graph.begin[i + 1]; at++) {
            const uint32_t other = graph.others[at];
            int is_back = 0;
            cr_expect_eq(made.groups[other], made.groups[i]);
            cr_expect(graph.similarities[at] > 0 && graph.similarities[at] <= 1);
            near += count_nearer(&made, i, other) < NEAREST;
            for (uint64_t back = graph.begin[other]; back < graph.begin[other + 1]; back++) {
                is_back |=
                    graph.others[back] == i && graph.similarities[back] == graph.similarities[at];
            }
            cr_expect(is_back);
        }
        cr_expect_geq(near, NEAREST, "point %u lacks one of its nearest", i);
        cr_expect(graph.novelties[i] > 0 && graph.novelties[i] < 1);
    }
    arena_destroy(made.arena);
}

Test(nearest, points_that_are_alone_or_the_same_are_taken)
{
    static const float values[] = {1, 1, 1, 5};
    static const uint32_t groups[] = {0, 0, 0, 2};
    const struct nearest_points points = {values, 1, groups, 4};
    struct arena *arena = arena_create();
    struct nearest_graph graph;
    MUST(nearest_find(&points, 2, arena, &graph));
    cr_expect_eq(graph.begin[3], 6);
    cr_expect_eq(graph.begin[4], 6, "the one that is alone has no neighbour");
    cr_expect(graph.similarities[0] == 1, "those that are the same are alike");
    cr_expect(graph.novelties[0] == 0 && graph.novelties[3] == 1);
    MUST(nearest_find(&(struct nearest_points){values, 1, groups, 0}, 2, arena, &graph));
    cr_expect_eq(graph.begin[0], 0);
    arena_destroy(arena);
}

// A group beyond a cell is halved: most of the nearest are still found.
Test(nearest, large_groups_are_cut_into_cells)
{
    enum { COUNT = 3 * NEAREST_CELL, NEAREST = 3, LOOKED_AT = 60 };
    struct made_points made = made_points(COUNT, 20, 1);
    struct nearest_graph graph;
    size_t near = 0;
    MUST(nearest_find(&made.points, NEAREST, made.arena, &graph));
    for (uint32_t i = 0; i < LOOKED_AT; i++) {
        for (uint64_t at = graph.begin[i]; at < graph.begin[i + 1]; at++) {
            near += count_nearer(&made, i, graph.others[at]) < NEAREST;
        }
    }
    cr_expect_geq(near, LOOKED_AT * NEAREST * 3 / 4, "%zu", near);
    arena_destroy(made.arena);
}

Test(nearest, a_lack_of_memory_is_reported)
{
    struct made_points made = made_points(50, 3, 2);
    struct nearest_graph graph;
    alloc_fail_at(1);
    cr_expect_eq(nearest_find(&made.points, 4, made.arena, &graph), TAPML_NO_MEMORY);
    alloc_fail_at(0);
    arena_destroy(made.arena);
}
