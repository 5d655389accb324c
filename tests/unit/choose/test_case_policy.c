// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"
#include "choose/case_policy.h"
#include "harness/policies.h"
#include "plugin/policy.h"

#include <math.h>

enum { CASES = 5 };

static struct registry *registry;
static struct arena *arena;
static struct feature_case cases[CASES];
static uint32_t groups[CASES];

static void begin(void)
{
    registry = policies_of_the_zoo();
    arena = arena_create();
    for (uint32_t i = 0; i < CASES; i++) {
        cases[i] = (struct feature_case){.id = i + 1,
                                         .op = "tapml.silu",
                                         .instance = "silu",
                                         .phase = "decode",
                                         .row.signature = i < 4 ? "a" : "b"};
        groups[i] = i / 4;
    }
}

static void end(void)
{
    arena_destroy(arena);
    policies_close(registry);
}

TestSuite(case_policy, .init = begin, .fini = end);

static struct case_policy_input input(enum budget_kind kind, double amount, const double *times_ns)
{
    return (struct case_policy_input){.target = "gpu",
                                      .cases = cases,
                                      .groups = groups,
                                      .count = CASES,
                                      .group_count = 2,
                                      .times_ns = times_ns,
                                      .budget = {kind, amount}};
}

static struct policy *open(const char *name, enum policy_role role)
{
    struct policy *policy = NULL;

    MUST(policy_create(registry, name, role, &policy));
    return policy;
}

Test(case_policy, a_choice_is_one_of_the_host_without_a_certificate)
{
    const struct case_policy_input two = input(BUDGET_CASES, 2, NULL);
    const struct case_policy_input one = input(BUDGET_SHARE, 0.2, NULL);
    struct policy *policy = open("sin_wise_policy", POLICY_SELECT);
    struct select_result result;

    MUST(case_policy_select(policy, &two, arena, &result));
    cr_assert_eq(result.count, 2);
    cr_expect_eq(result.picks[0].index, 4);
    cr_expect(result.picks[0].is_first);
    cr_expect_eq(result.picks[1].index, 3);
    cr_expect_eq(result.picks[1].gain, 0.5);
    cr_expect_eq(result.groups_left, 0);
    cr_expect(isnan(result.certificate.share));
    MUST(case_policy_select(policy, &one, arena, &result));
    cr_expect_eq(result.count, 1);
    cr_expect_eq(result.groups_left, 1);
    cr_expect_str_eq(case_policy_name(policy, arena),
                     "org.example.sin_wise_policy/sin_wise_policy 1.0.0");
    policy_destroy(policy);
}

Test(case_policy, a_budget_in_seconds_is_one_of_predicted_times)
{
    const double times_ns[CASES] = {1e9, 1e9, 1e9, 2e9, 1e9};
    const struct case_policy_input seconds = input(BUDGET_SECONDS, 2.5, times_ns);
    struct policy *policy = open("sin_wise_policy", POLICY_SELECT);
    struct select_result result;

    MUST(case_policy_select(policy, &seconds, arena, &result));
    cr_expect_eq(result.count, 1, "the next one would take 2 s more");
    policy_destroy(policy);
    policy = open("sin_lavish_policy", POLICY_SELECT);
    MUST(case_policy_select(policy, &seconds, arena, &result));
    cr_expect_eq(result.count, 1);
    policy_destroy(policy);
}

Test(case_policy, an_answer_that_is_none_is_the_policy_s)
{
    const struct case_policy_input two = input(BUDGET_CASES, 2, NULL);
    struct case_policy_input none = two;
    struct policy *policy = open("sin_lavish_policy", POLICY_SELECT);
    struct select_result result = {.count = 9};
    uint32_t order[] = {1, 3};

    cr_expect_eq(case_policy_select(policy, &two, arena, &result), TAPML_INTERNAL);
    cr_expect_not_null(strstr(status_message(), "sin_lavish_policy': its choice has 5 cases"));
    cr_expect_eq(result.count, 9, "nothing is written");
    none.count = 0;
    MUST(case_policy_select(policy, &none, arena, &result));
    cr_expect_eq(result.count, 0, "nothing is asked");
    policy_destroy(policy);
    policy = open("sin_far_policy", POLICY_ORDER_CASES);
    cr_expect_eq(case_policy_order(policy, &two, arena, order, 2), TAPML_INTERNAL);
    cr_expect_not_null(strstr(status_message(), "sin_far_policy': its order of 2 cases has number "
                                                "12, expected 0 to 4"));
    policy_destroy(policy);
    policy = open("sin_wise_policy", POLICY_ORDER_CASES);
    order[0] = 1;
    order[1] = 3;
    MUST(case_policy_order(policy, &two, arena, order, 2));
    cr_expect_eq(order[0], 3);
    cr_expect_eq(order[1], 1);
    policy_destroy(policy);
}
