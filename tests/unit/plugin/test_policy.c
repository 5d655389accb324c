// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/ini.h"
#include "harness/policies.h"
#include "plugin/policy.h"

#include <tapml/ops.h>

#include <math.h>

// Policies of the zoo.
static struct registry *registry;

static void begin(void)
{
    registry = policies_of_the_zoo();
}

static void end(void)
{
    policies_close(registry);
}

TestSuite(policy, .init = begin, .fini = end);

static const tapml_policy_kind KINDS[] = {
    {.hdr = TAPML_HDR(tapml_policy_kind), .op = &tapml_linear, .calls = 3},
    {.hdr = TAPML_HDR(tapml_policy_kind), .op = &tapml_silu, .calls = 2},
    {.hdr = TAPML_HDR(tapml_policy_kind), .op = &tapml_embed, .calls = 1}};
static const tapml_policy_kind *const LIST[] = {&KINDS[0], &KINDS[1], &KINDS[2]};

static struct policy *open(const char *name, enum policy_role role)
{
    struct policy *policy = NULL;

    MUST(policy_create(registry, name, role, &policy));
    return policy;
}

Test(policy, one_of_the_first_draft_orders_kinds)
{
    struct policy *policy = open("sin_last_policy", POLICY_ORDER);
    uint32_t order[] = {0, 1, 2};
    struct text text;

    MUST(policy_order(policy, LIST, 3, order));
    cr_expect_eq(order[0], 2u);
    cr_expect_eq(order[1], 1u);
    cr_expect_eq(order[2], 0u);
    text_init(&text);
    policy_print(policy, &text);
    cr_expect_not_null(strstr(text.data, "policy 'org.example.sin_last_policy/sin_last_policy'"));
    cr_expect_not_null(strstr(text.data, " key=value"), "%s", text.data);
    policy_print(NULL, &text);
    policy_print_name(NULL, &text);
    text_release(&text);
    policy_destroy(policy);
}

Test(policy, an_order_that_is_none_has_its_name)
{
    struct policy *policy = open("sin_double_policy", POLICY_ORDER);
    uint32_t order[] = {0, 1, 2};

    cr_expect_eq(policy_order(policy, LIST, 3, order), TAPML_INTERNAL);
    cr_expect_not_null(
        strstr(status_message(),
               "sin_double_policy': its order of 3 kinds has 'tapml.embed' twice, and not 'tapml."),
        "%s", status_message());
    policy_destroy(policy);
    cr_expect_eq(policy_create(registry, "sin_first_policy", POLICY_ORDER, &policy),
                 TAPML_NOT_FOUND);
}

Test(policy, one_is_opened_for_what_it_has)
{
    struct policy *policy = NULL;

    cr_expect_eq(policy_create(registry, "sin_last_policy", POLICY_SELECT, &policy), TAPML_INVALID);
    cr_expect_str_eq(status_message(),
                     "policy 'org.example.sin_last_policy/sin_last_policy' has no function "
                     "'select', which is what is asked here");
    cr_expect_eq(policy_create(registry, "sin_wise_policy", POLICY_ORDER, &policy), TAPML_INVALID);
    cr_expect_eq(policy_create(registry, "sin_empty_policy", POLICY_ORDER, &policy),
                 TAPML_UNAVAILABLE);
    cr_expect_not_null(strstr(status_message(), "its table has none of 'order', 'select'"), "%s",
                       status_message());
}

Test(policy, a_look_is_answered)
{
    const tapml_policy_change driver = {.hdr = TAPML_HDR(tapml_policy_change),
                                        .what = TAPML_CHANGED_DRIVER,
                                        .target = "gpu",
                                        .before = "1",
                                        .now = "2"};
    const tapml_policy_change *const changes[] = {&driver};
    tapml_policy_look look = {.hdr = TAPML_HDR(tapml_policy_look), .cases = 8, .stale = 8};
    struct policy *policy = open("sin_wise_policy", POLICY_TRIGGER);
    tapml_policy_answer answer;

    MUST(policy_trigger(policy, &look, &answer));
    cr_expect_eq(answer.runs, 0);
    look.changes = changes;
    look.n_changes = 1;
    MUST(policy_trigger(policy, &look, &answer));
    cr_expect_eq(answer.runs, 1);
    cr_expect_str_eq(answer.reason, "a target is another one");
    policy_destroy(policy);
    policy = open("sin_vague_policy", POLICY_TRIGGER);
    cr_expect_eq(policy_trigger(policy, &look, &answer), TAPML_INTERNAL);
    cr_expect_str_eq(status_message(), "policy 'org.example.sin_vague_policy/sin_vague_policy': "
                                       "its answer is 7, expected 0 or 1");
    policy_destroy(policy);
}

Test(policy, cases_are_chosen_and_ordered)
{
    tapml_policy_case items[4];
    const tapml_policy_case *list[4];
    uint32_t chosen[4], count = 0, order[] = {0, 2, 3};
    double worth[4] = {0};

    for (int i = 0; i < 4; i++) {
        items[i] = (tapml_policy_case){.hdr = TAPML_HDR(tapml_policy_case),
                                       .op = "tapml.silu",
                                       .instance = "silu",
                                       .phase = "decode",
                                       .signature = "tapml.silu",
                                       .time_ns = NAN};
        list[i] = &items[i];
    }
    const tapml_policy_cases question = {.hdr = TAPML_HDR(tapml_policy_cases),
                                         .target = "gpu",
                                         .cases = list,
                                         .n_cases = 4,
                                         .count_max = 2,
                                         .time_max_ns = INFINITY};
    struct policy *policy = open("sin_wise_policy", POLICY_SELECT);

    MUST(policy_select(policy, &question, chosen, worth, &count));
    cr_assert_eq(count, 2u);
    cr_expect_eq(chosen[0], 3u);
    cr_expect_eq(chosen[1], 2u);
    cr_expect_eq(worth[1], 0.5);
    policy_destroy(policy);
    policy = open("sin_wise_policy", POLICY_ORDER_CASES);
    MUST(policy_order_cases(policy, &question, 3, order));
    cr_expect_eq(order[0], 3u);
    cr_expect_eq(order[2], 0u);
    policy_destroy(policy);
    policy = open("sin_lavish_policy", POLICY_SELECT);
    cr_expect_eq(policy_select(policy, &question, chosen, worth, &count), TAPML_INTERNAL);
    cr_expect_not_null(strstr(status_message(), "sin_lavish_policy': its choice has 4 cases, "
                                                "expected at most 2"));
    policy_destroy(policy);
}

// Two operators, the second of which may not run on the target.
Test(policy, one_builds_plans)
{
    static const char *const places[] = {"source", "gpu"};
    static const uint8_t both[] = {1, 1}, one[] = {1, 0};
    static const double times_ns[] = {2, 1};
    const tapml_policy_op a = {.hdr = TAPML_HDR(tapml_policy_op),
                               .op = &tapml_linear,
                               .instance = "a",
                               .time_ns = times_ns,
                               .may_run = both},
                          b = {.hdr = TAPML_HDR(tapml_policy_op),
                               .op = &tapml_silu,
                               .instance = "b",
                               .time_ns = times_ns,
                               .may_run = one};
    const tapml_policy_op *const ops[] = {&a, &b};
    const tapml_policy_ops question = {.hdr = TAPML_HDR(tapml_policy_ops),
                                       .places = places,
                                       .ops = ops,
                                       .n_places = 2,
                                       .n_ops = 2,
                                       .count_max = 4};
    struct policy *policy = open("sin_wise_policy", POLICY_BUILD);
    uint8_t found[8];
    uint32_t count = 0;

    MUST(policy_build(policy, &question, found, &count));
    cr_assert_eq(count, 2u);
    cr_expect_eq(found[0], 1);
    cr_expect_eq(found[1], 0);
    policy_destroy(policy);
    policy = open("sin_lost_policy", POLICY_BUILD);
    cr_expect_eq(policy_build(policy, &question, found, &count), TAPML_INTERNAL);
    cr_expect_not_null(strstr(status_message(), "sin_lost_policy': its plan 0 has 'b' on 'gpu'"),
                       "%s", status_message());
    policy_destroy(policy);
}
