// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "choose/bounding.h"
#include "made_points.h"

enum { COUNT = 12, BUDGET = 4, NEAREST = 3 };

static struct made_points made;
static struct nearest_graph graph;
static double utilities[COUNT];

static void begin(void)
{
    made = made_points(COUNT, 4, 1);
    struct random random;
    random_init(&random, 3);
    MUST(nearest_find(&made.points, NEAREST, made.arena, &graph));
    for (size_t i = 0; i < COUNT; i++) {
        utilities[i] = random_between(&random, 0.2, 1);
    }
}

static void end(void)
{
    arena_destroy(made.arena);
}

TestSuite(bounding, .init = begin, .fini = end);

static unsigned find_best(const struct objective *objective)
{
    unsigned best = 0;
    double most = -1;
    for (unsigned set = 0; set < 1u << COUNT; set++) {
        uint8_t is_in[COUNT];
        size_t count = 0;
        for (size_t i = 0; i < COUNT; i++) {
            is_in[i] = set >> i & 1;
            count += is_in[i];
        }
        if (count == BUDGET && objective_value(objective, is_in) > most) {
            most = objective_value(objective, is_in);
            best = set;
        }
    }
    return best;
}

Test(bounding, exact_bounds_agree_with_the_best_choice)
{
    for (double weight = 0; weight < 0.5; weight += 0.1) {
        const struct objective objective = {&graph, utilities, NULL, weight};
        const struct bounding_options options = {.budget = BUDGET, .share = 1};
        uint8_t states[COUNT] = {0};
        struct bounding_counts counts;
        MUST(bounding_run(&objective, &options, states, &counts));
        const unsigned best = find_best(&objective);
        for (size_t i = 0; i < COUNT; i++) {
            cr_expect(states[i] != BOUNDING_IN || (best >> i & 1), "weight %g, point %zu", weight,
                      i);
            cr_expect(states[i] != BOUNDING_OUT || !(best >> i & 1), "weight %g, point %zu", weight,
                      i);
        }
        cr_expect(weight > 0 || counts.in + counts.out == COUNT, "nothing is open without pairs");
    }
}

Test(bounding, a_sample_decides_more_and_leaves_enough)
{
    const struct objective objective = {&graph, utilities, NULL, 0.3};
    struct bounding_counts exact, sampled;
    uint8_t states[COUNT] = {BOUNDING_IN};
    uint8_t others[COUNT] = {BOUNDING_IN};
    MUST(bounding_run(&objective, &(struct bounding_options){.budget = BUDGET, .share = 1}, states,
                      &exact));
    MUST(bounding_run(&objective,
                      &(struct bounding_options){.budget = BUDGET, .share = 0.3, .seed = 1}, others,
                      &sampled));
    size_t left = 0;
    for (size_t i = 0; i < COUNT; i++) {
        left += others[i] != BOUNDING_OUT;
    }
    cr_expect_geq(sampled.in + sampled.out, exact.in + exact.out);
    cr_expect_geq(left, BUDGET);
    cr_expect_eq(others[0], BOUNDING_IN, "what is in stays in");
}
