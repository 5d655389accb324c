// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/policy_answer.h"

#include <tapml/ops.h>

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { CASES = 4 };

static tapml_policy_case items[CASES];
static const tapml_policy_case *list[CASES];

static tapml_policy_cases question(uint32_t count_max, double time_max_ns)
{
    for (int i = 0; i < CASES; i++) {
        items[i] = (tapml_policy_case){.op = "tapml.silu",
                                       .instance = "layers.0/act",
                                       .time_ns = i == 0 ? (double)NAN : 10.0 * i};
        list[i] = &items[i];
    }
    return (tapml_policy_cases){
        .cases = list, .n_cases = CASES, .count_max = count_max, .time_max_ns = time_max_ns};
}

static void refused(tapml_status status, const char *sentence)
{
    cr_expect_eq(status, TAPML_INTERNAL, "%s", sentence);
    cr_expect_str_eq(status_message(), sentence);
}

static tapml_status
choose(uint32_t count_max, double time_max_ns, const uint32_t *chosen, uint32_t count)
{
    static const double worth[CASES] = {1, 2, 3, -4};
    const tapml_policy_cases asked = question(count_max, time_max_ns);

    return policy_answer_check_choice(&asked, chosen, worth, count);
}

Test(policy_answer, a_choice_keeps_the_budget_and_has_each_case_once)
{
    const uint32_t some[] = {3, 0, 1, 2}, twice[] = {3, 1, 3}, far[] = {4};

    cr_expect_eq(choose(4, INFINITY, some, 4), TAPML_OK);
    cr_expect_eq(choose(2, INFINITY, some, 2), TAPML_OK);
    refused(choose(2, INFINITY, some, 3), "its choice has 3 cases, expected at most 2");
    refused(choose(4, INFINITY, some, UINT32_MAX),
            "its choice has 4294967295 cases, expected at most 4");
    refused(choose(4, INFINITY, twice, 3), "its choice of 3 cases has number 3 ('tapml.silu' at "
                                           "'layers.0/act') twice");
    refused(choose(4, INFINITY, far, 1), "its choice of 1 cases has number 4, expected 0 to 3");
    refused(choose(3, INFINITY, some, 0), "its choice has no case, expected 1 to 3 of 4");
}

Test(policy_answer, a_choice_keeps_a_budget_in_time)
{
    const uint32_t some[] = {3, 0, 1};

    cr_expect_eq(choose(4, 31, some, 2), TAPML_OK, "a case without a time counts as 1 ns");
    refused(choose(4, 31, some, 3),
            "its choice of 3 cases takes 4.1e-08 s as predicted, expected at most 3.1e-08 s");
    cr_expect_eq(choose(4, 0.5, some, 0), TAPML_OK, "there is room for none");
}

Test(policy_answer, what_a_case_is_worth_is_a_number)
{
    const tapml_policy_cases asked = question(2, INFINITY);
    const uint32_t chosen[] = {1, 2};

    refused(policy_answer_check_choice(&asked, chosen, (const double[]){1, INFINITY}, 2),
            "the worth of number 2 of its choice is inf, expected a finite number");
    refused(policy_answer_check_choice(&asked, chosen, (const double[]){NAN, 1}, 2),
            "the worth of number 1 of its choice is nan, expected a finite number");
}

Test(policy_answer, an_order_has_each_case_that_was_given_once)
{
    const tapml_policy_cases asked = question(4, INFINITY);
    const uint32_t given[] = {0, 2, 3};

    cr_expect_eq(policy_answer_check_cases(&asked, given, (const uint32_t[]){3, 0, 2}, 3),
                 TAPML_OK);
    refused(policy_answer_check_cases(&asked, given, (const uint32_t[]){3, 0, 1}, 3),
            "its order of 3 cases has number 1 ('tapml.silu' at 'layers.0/act'), which is not to "
            "run");
    refused(policy_answer_check_cases(&asked, given, (const uint32_t[]){3, 0, 0}, 3),
            "its order of 3 cases has number 0 ('tapml.silu' at 'layers.0/act') twice");
    refused(policy_answer_check_cases(&asked, given, (const uint32_t[]){3, 0, UINT32_MAX}, 3),
            "its order of 3 cases has number 4294967295, expected 0 to 3");
}

Test(policy_answer, an_order_has_each_kind_once)
{
    const tapml_policy_kind a = {.op = &tapml_silu}, b = {.op = &tapml_linear};
    const tapml_policy_kind *const kinds[] = {&a, &b};

    cr_expect_eq(policy_answer_check_kinds(kinds, 2, (const uint32_t[]){1, 0}), TAPML_OK);
    refused(policy_answer_check_kinds(kinds, 2, (const uint32_t[]){1, 1}),
            "its order of 2 kinds has 'tapml.linear' twice, and not 'tapml.silu'");
    refused(policy_answer_check_kinds(kinds, 2, (const uint32_t[]){1, 2}),
            "its order has number 2 of 2 kinds, expected 0 to 1");
}

Test(policy_answer, a_look_is_answered_by_yes_or_no)
{
    tapml_policy_answer answer = {.runs = 1, .reason = "a driver"};

    cr_expect_eq(policy_answer_check_look(&answer), TAPML_OK);
    answer.runs = -1;
    refused(policy_answer_check_look(&answer), "its answer is -1, expected 0 or 1");
    answer.runs = 0;
    memset(answer.reason, 'x', sizeof(answer.reason));
    refused(policy_answer_check_look(&answer),
            "its reason has no end, expected at most 159 bytes and a zero byte");
}

Test(policy_answer, a_plan_has_each_operator_where_it_may_run)
{
    static const char *const places[] = {"source", "gpu"};
    static const uint8_t both[] = {1, 1}, one[] = {1, 0};
    const tapml_policy_op a = {.instance = "a", .may_run = both},
                          b = {.instance = "b", .may_run = one};
    const tapml_policy_op *const ops[] = {&a, &b};
    const tapml_policy_ops asked = {
        .places = places, .ops = ops, .n_places = 2, .n_ops = 2, .count_max = 2};

    cr_expect_eq(policy_answer_check_plans(&asked, (const uint8_t[]){1, 0, 0, 0}, 2), TAPML_OK);
    cr_expect_eq(policy_answer_check_plans(&asked, NULL, 0), TAPML_OK);
    refused(policy_answer_check_plans(&asked, (const uint8_t[]){1, 0, 0, 1}, 2),
            "its plan 1 has 'b' on 'gpu', where it may not run");
    refused(policy_answer_check_plans(&asked, (const uint8_t[]){2, 0}, 1),
            "its plan 0 has 'a' at place 2, expected 0 to 1");
    refused(policy_answer_check_plans(&asked, NULL, 3), "it has built 3 plans, expected at most 2");
}
