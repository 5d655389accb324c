// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "choose/select.h"
#include "made_points.h"

#include <tapml/plugin.h>

#include <sys/resource.h>
#include <time.h>

enum { COUNT = 600, GROUPS = 7 };

static double *make_risks(struct made_points *made)
{
    double *risks = arena_array(made->arena, made->points.count + 1, sizeof(*risks));
    struct random random;
    random_init(&random, 9);
    for (size_t i = 0; i < made->points.count; i++) {
        risks[i] = random_between(&random, 0, 1);
    }
    return risks;
}

static struct select_input input_of(struct made_points *made, double budget)
{
    return (struct select_input){.points = made->points,
                                 .group_count = GROUPS,
                                 .risks = make_risks(made),
                                 .budget = budget,
                                 .bounding_from = SELECT_BOUNDING_FROM,
                                 .graph_max = SELECT_GRAPH_MAX};
}

static struct select_result run(const struct select_input *input, struct arena *arena)
{
    struct select_result result;
    MUST(select_run(input, arena, &result));
    return result;
}

static int is_chosen(const struct select_result *result, uint32_t index)
{
    for (size_t i = 0; i < result->count; i++) {
        if (result->picks[i].index == index) {
            return 1;
        }
    }
    return 0;
}

Test(select, each_group_has_one_and_a_larger_budget_adds_to_a_smaller_one)
{
    struct made_points made = made_points(COUNT, 12, GROUPS);
    struct select_input input = input_of(&made, 40);
    const struct select_result small = run(&input, made.arena);
    input.budget = 80;
    const struct select_result large = run(&input, made.arena);
    uint8_t has[GROUPS] = {0};
    cr_assert_eq(small.count, 40);
    cr_assert_eq(large.count, 80);
    for (size_t i = 0; i < small.count; i++) {
        has[made.groups[small.picks[i].index]] = 1;
        cr_expect_eq(small.picks[i].is_first, i < GROUPS);
        cr_expect(is_chosen(&large, small.picks[i].index));
    }
    for (size_t group = 0; group < GROUPS; group++) {
        cr_expect(has[group]);
    }
    cr_expect_eq(small.groups_left, 0);
    cr_expect(small.certificate.share > 0.5 && small.certificate.share <= 1);
    input.budget = 3;
    cr_expect_eq(run(&input, made.arena).groups_left, GROUPS - 3);
    arena_destroy(made.arena);
}

Test(select, graphs_of_parts_choose_what_one_graph_does)
{
    struct made_points made = made_points(COUNT, 12, GROUPS);
    struct select_input input = input_of(&made, 50);
    const struct select_result whole = run(&input, made.arena);
    input.graph_max = 200;
    const struct select_result parts = run(&input, made.arena);
    cr_expect_eq(whole.parts, 1);
    cr_expect_gt(parts.parts, 2);
    cr_assert_eq(parts.count, whole.count);
    for (size_t i = 0; i < whole.count; i++) {
        cr_expect_eq(parts.picks[i].index, whole.picks[i].index);
    }
    cr_expect_float_eq(parts.certificate.value, whole.certificate.value, 1e-9);
    cr_expect_eq(parts.certificate.bound, OBJECTIVE_BY_UTILITIES);
    arena_destroy(made.arena);
}

Test(select, costs_are_kept_within_the_budget)
{
    struct made_points made = made_points(COUNT, 12, GROUPS);
    struct select_input input = input_of(&made, 20);
    double costs[COUNT];
    double sum = 0;
    for (size_t i = 0; i < COUNT; i++) {
        costs[i] = 0.1 + (double)(i % 5);
    }
    input.costs = costs;
    const struct select_result result = run(&input, made.arena);
    for (size_t i = 0; i < result.count; i++) {
        sum += costs[result.picks[i].index];
    }
    cr_expect(sum <= 20 + 1e-9 && sum > 15, "%g", sum);
    arena_destroy(made.arena);
}

Test(select, bounding_loses_next_to_nothing)
{
    struct made_points made = made_points(COUNT, 12, GROUPS);
    struct select_input input = input_of(&made, 60);
    const struct select_result plain = run(&input, made.arena);
    input.bounding_from = 1;
    const struct select_result bounded = run(&input, made.arena);
    cr_expect_gt(bounded.bounding.out, 0);
    cr_assert_eq(bounded.count, plain.count);
    cr_expect_geq(bounded.certificate.value, 0.99 * plain.certificate.value);
    arena_destroy(made.arena);
}

Test(select, nothing_and_a_lack_of_memory_are_fine)
{
    struct made_points made = made_points(60, 3, GROUPS);
    struct select_input input = input_of(&made, 10);
    struct select_result result;
    const size_t live = alloc_live();
    tapml_status status = TAPML_NO_MEMORY;
    for (size_t at = 1; status != TAPML_OK; at++) {
        struct arena *arena = arena_create();
        alloc_fail_at(at);
        status = select_run(&input, arena, &result);
        alloc_fail_at(0);
        cr_assert(status == TAPML_OK || status == TAPML_NO_MEMORY);
        arena_destroy(arena);
        cr_assert_eq(alloc_live(), live);
    }
    input.points.count = 0;
    cr_expect_eq(run(&input, made.arena).count, 0);
    arena_destroy(made.arena);
}

// With a sanitizer's code in each loop the time says nothing.
#if TAPML_SANITIZER == 0
// 200 of 100,000 take less than 10 s and 1 GB, however the groups divide them.
static void expect_quick(size_t groups)
{
    enum { MANY = 100000 };
    struct made_points made = made_points(MANY, 64, groups);
    struct select_input input = input_of(&made, 200);
    struct rusage usage;
    input.group_count = groups;
    const clock_t begin = clock(); // Of the processor: the machine may have more to do.
    const struct select_result result = run(&input, made.arena);
    const double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    cr_assert_eq(getrusage(RUSAGE_SELF, &usage), 0);
    cr_expect_eq(result.count, 200);
    cr_expect_gt(result.bounding.out, MANY / 2);
    cr_expect_lt(seconds, 10, "%zu groups: %.1f s", groups, seconds);
    cr_expect_lt(usage.ru_maxrss, 1 << 20, "%ld KiB", usage.ru_maxrss);
    arena_destroy(made.arena);
}

Test(select, two_hundred_of_a_hundred_thousand_are_quick)
{
    expect_quick(40);
    expect_quick(1);
}
#endif
