// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "choose/greedy.h"
#include "made_points.h"

enum { COUNT = 120, NEAREST = 6 };

static struct made_points made;
static struct nearest_graph graph;
static double utilities[COUNT];
static struct greedy_pick picks[COUNT];

static void begin(void)
{
    struct random random;
    made = made_points(COUNT, 10, 1);
    random_init(&random, 5);
    MUST(nearest_find(&made.points, NEAREST, made.arena, &graph));
    for (size_t i = 0; i < COUNT; i++) {
        utilities[i] = random_between(&random, 0, 1);
    }
}

static void end(void)
{
    arena_destroy(made.arena);
}

TestSuite(greedy, .init = begin, .fini = end);

// The same without a queue.
static size_t choose_plainly(const struct objective *objective, double budget, uint32_t *out_picks)
{
    uint8_t is_in[COUNT] = {0};
    size_t count = 0;
    for (;;) {
        size_t best = COUNT;
        double most = 0;
        for (size_t i = 0; i < COUNT; i++) {
            const double cost = objective_cost(objective, i);
            const double rate = objective_gain(objective, is_in, i) / cost;
            if (!is_in[i] && cost <= budget && (best == COUNT || rate > most)) {
                best = i;
                most = rate;
            }
        }
        if (best == COUNT) {
            return count;
        }
        is_in[best] = 1;
        budget -= objective_cost(objective, best);
        out_picks[count++] = (uint32_t)best;
    }
}

static void expect_as_plain(const double *costs, double budget)
{
    const struct objective objective = {&graph, utilities, costs, 0.2};
    uint32_t plain[COUNT];
    size_t count = 0;
    MUST(greedy_run(&objective, &(struct greedy_options){.budget = budget}, picks, &count));
    cr_assert_eq(count, choose_plainly(&objective, budget, plain));
    for (size_t i = 0; i < count; i++) {
        cr_expect_eq(picks[i].index, plain[i], "pick %zu", i);
    }
}

Test(greedy, a_lazy_queue_chooses_what_a_plain_search_does)
{
    double costs[COUNT];
    expect_as_plain(NULL, 30);
    expect_as_plain(NULL, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        costs[i] = 0.5 + (double)(i % 7);
    }
    expect_as_plain(costs, 25);
}

Test(greedy, what_must_be_in_comes_first_and_what_is_out_never)
{
    const struct objective objective = {&graph, utilities, NULL, 0.2};
    uint8_t states[COUNT] = {0}, is_must[COUNT] = {0};
    size_t count = 0;
    is_must[17] = is_must[3] = 1;
    states[44] = BOUNDING_IN;
    for (size_t i = 50; i < COUNT; i++) {
        states[i] = BOUNDING_OUT;
    }
    MUST(greedy_run(&objective,
                    &(struct greedy_options){.budget = 10, .states = states, .is_must = is_must},
                    picks, &count));
    cr_assert_eq(count, 10);
    cr_expect_eq(picks[0].index + picks[1].index, 20);
    cr_expect_eq(picks[2].index, 44);
    for (size_t i = 0; i < count; i++) {
        cr_expect_lt(picks[i].index, 50);
        cr_expect(i < 4 || picks[i].gain <= picks[i - 1].gain);
    }
    MUST(greedy_run(&objective, &(struct greedy_options){.budget = 1, .is_must = is_must}, picks,
                    &count));
    cr_expect_eq(count, 1);
    cr_expect(picks[0].index == 17 || picks[0].index == 3);
}
