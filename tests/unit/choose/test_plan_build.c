// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "choose/plan_build.h"
#include "harness/made_ops.h"
#include "harness/policies.h"
#include "plugin/policy.h"

#include <math.h>
#include <string.h>

static struct made_ops made;
static struct arena *arena;
static struct plan_builds builds;

static void begin(void)
{
    made_ops_init(&made);
    arena = arena_create();
    MUST(plan_build_all(&made.question, NULL, 0, arena, &builds));
}

static void end(void)
{
    arena_destroy(arena);
}

TestSuite(plan_build, .init = begin, .fini = end);

// The plan `number` of a builder.
static const uint8_t *find(const char *builder, int number)
{
    for (size_t i = 0; i < builds.count; i++) {
        if (strcmp(builds.items[i].builder, builder) == 0 && number-- == 0) {
            return builds.items[i].places;
        }
    }
    return NULL;
}

Test(plan_build, each_plan_may_run_and_is_there_once)
{
    for (size_t i = 0; i < builds.count; i++) {
        for (int op = 0; op < MADE_OPS; op++) {
            cr_expect(made.may_run[op][builds.items[i].places[op]]);
        }
        for (size_t k = 0; k < i; k++) {
            cr_expect_neq(memcmp(builds.items[i].places, builds.items[k].places, MADE_OPS), 0);
        }
    }
    for (size_t i = 0; plan_build_name(i) != NULL; i++) {
        cr_expect_not_null(find(plan_build_name(i), 0), "%s", plan_build_name(i));
    }
}

Test(plan_build, kinds_are_where_they_are_fastest)
{
    const uint8_t *places = find("kind", 0);
    for (int i = 0; i < MADE_OPS; i += MADE_KINDS) {
        cr_expect_eq(places[i], 2, "norms on the npu");
        cr_expect_eq(places[i + 1], 1, "products on the gpu");
        cr_expect_eq(places[i + 2], 0, "activations on the source");
        cr_expect_eq(places[i + 3], 0, "sums may not run where they were fastest");
    }
}

Test(plan_build, all_is_as_far_as_it_may_run)
{
    const uint8_t *gpu = find("all", 0), *npu = find("all", 1);
    cr_expect_eq(gpu[3], 1);
    cr_expect_eq(npu[2], 2);
    cr_expect_eq(npu[3], 0);
    cr_expect_eq(find("source", 0)[7], 0);
}

Test(plan_build, quarters_are_at_either_end_and_one_gains_most)
{
    const uint8_t *front = find("front", 0), *back = find("back", 0), *one = find("one", 0);
    cr_expect_eq(front[3], 1);
    cr_expect_eq(front[4], 0);
    cr_expect_eq(back[3], 0);
    cr_expect_eq(back[4], 1);
    cr_expect_eq(one[1], 1);
    cr_expect_eq(one[0], 0);
}

Test(plan_build, an_unknown_time_is_that_of_the_source)
{
    made.times[1][1] = (double)NAN;
    cr_expect_float_eq(plan_build_time_ns(&made.ops[1], 1), 100e3, 1e-9);
    made.times[1][0] = (double)NAN;
    cr_expect_float_eq(plan_build_time_ns(&made.ops[1], 1), 1, 1e-9);
}

// Policies of the zoo: what one builds the host has built already, and another one is wrong.
Test(plan_build, a_policy_is_one_more_builder)
{
    struct registry *registry = policies_of_the_zoo();
    struct policy *policy = NULL;
    struct plan_builds more;
    MUST(policy_create(registry, "sin_wise_policy", POLICY_BUILD, &policy));
    MUST(plan_build_all(&made.question, &policy, 1, arena, &more));
    cr_expect_eq(more.count, builds.count, "they are there once");
    policy_destroy(policy);
    MUST(policy_create(registry, "sin_lost_policy", POLICY_BUILD, &policy));
    cr_expect_eq(plan_build_all(&made.question, &policy, 1, arena, &more), TAPML_INTERNAL);
    policy_destroy(policy);
    policies_close(registry);
}
