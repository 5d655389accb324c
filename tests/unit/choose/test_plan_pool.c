// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "choose/plan_pool.h"
#include "harness/made_ops.h"

#include <math.h>

static struct made_ops made;
static struct arena *arena;
static struct plan_pool pool;
static size_t looks;

// One column: the operators away from the source, a byte each.
static tapml_status look(void *user, const uint8_t *places, struct plan_look *io_look)
{
    (void)user;
    looks++;
    for (int i = 0; i < MADE_OPS; i++) {
        io_look->columns[0] += places[i] != 0;
        io_look->bytes[places[i]]++;
    }
    return TAPML_OK;
}

static void begin(void)
{
    static const double guesses[] = {3};
    made_ops_init(&made);
    arena = arena_create();
    looks = 0;
    MUST(plan_pool_init(&pool,
                        &(struct plan_pool_input){.question = &made.question,
                                                  .width = 1,
                                                  .guesses = guesses,
                                                  .memory_bytes = 5,
                                                  .look = look},
                        arena));
}

static void end(void)
{
    plan_pool_release(&pool);
    arena_destroy(arena);
}

TestSuite(plan_pool, .init = begin, .fini = end);

Test(plan_pool, a_plan_is_looked_at_once)
{
    uint8_t places[MADE_OPS] = {0, 1, 1};
    struct plan_trial *first = NULL, *again = NULL, *other = NULL;
    MUST(plan_pool_look(&pool, places, "kind", NULL, &first));
    cr_expect_float_eq(first->analytic, 6, 1e-12);
    cr_expect(isnan(first->value));
    MUST(plan_pool_look(&pool, places, "part", NULL, &again));
    cr_expect_eq(first, again);
    cr_expect_str_eq(again->name, "kind");
    cr_expect_eq(looks, 1);
    places[3] = 1;
    MUST(plan_pool_look(&pool, places, "kind", first, &other));
    cr_expect_eq(other->edits, 1u);
    cr_expect_eq(first->places[3], 0, "a plan is copied");
    cr_expect_eq(pool.count, 2);
    cr_expect(plan_pool_can_measure(other));
    other->round = 1;
    cr_expect_not(plan_pool_can_measure(other));
}

Test(plan_pool, what_has_no_room_at_a_place_is_too_large)
{
    uint8_t places[MADE_OPS] = {1, 1, 1, 1, 1, 2, 2};
    struct plan_trial *trial = NULL;
    MUST(plan_pool_look(&pool, places, "x", NULL, &trial));
    cr_expect_not(trial->is_too_large, "the source has all that it needs");
    places[10] = 1;
    MUST(plan_pool_look(&pool, places, "x", NULL, &trial));
    cr_expect(trial->is_too_large);
    cr_expect_not(plan_pool_can_measure(trial));
    cr_expect_eq(pool.too_large, 1);
}

Test(plan_pool, scores_are_sorted_and_equal_ones_stay)
{
    struct plan_scored items[] = {{2, 0, NULL}, {1, 2, NULL}, {1, 1, NULL}, {INFINITY, 3, NULL}};
    plan_pool_sort(items, 4);
    cr_expect_eq(items[0].index, 1);
    cr_expect_eq(items[1].index, 2);
    cr_expect_eq(items[2].index, 0);
    cr_expect_eq(items[3].index, 3);
}
