// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "config/problems.h"
#include "config/run_config.h"
#include "harness/policies.h"
#include "run/policies.h"

static struct registry *registry;
static struct policies policies;

static void begin(void)
{
    registry = policies_of_the_zoo();
}

static void end(void)
{
    policies_release(&policies);
    policies_close(registry);
}

TestSuite(policies, .init = begin, .fini = end);

Test(policies, each_is_opened_for_its_role)
{
    struct run_config config = {.policy = "sin_last_policy", .select_policy = "sin_wise_policy"};

    MUST(policies_open(registry, &config, &policies));
    cr_expect_not_null(policies.of[POLICY_ORDER]);
    cr_expect_null(policies.of[POLICY_ORDER_CASES]);
    cr_expect_null(policies.of[POLICY_TRIGGER]);
    cr_expect_eq(config.choice.selector, policies.of[POLICY_SELECT]);
    cr_expect_null(config.choice.sorter);
}

Test(policies, a_trigger_is_one_if_it_is_on)
{
    struct run_config config = {.order_policy = "sin_wise_policy"};

    MUST(watch_settings_read("identity policy:sin_wise_policy", &config.watch));
    MUST(policies_open(registry, &config, &policies));
    cr_expect_not_null(policies.of[POLICY_TRIGGER]);
    cr_expect_eq(config.choice.sorter, policies.of[POLICY_ORDER_CASES]);
}

static void refused(struct run_config config, tapml_status code, const char *sentence)
{
    cr_expect_eq(policies_open(registry, &config, &policies), code, "%s", status_message());
    cr_expect_eq(strncmp(status_message(), sentence, strlen(sentence)), 0, "%s", status_message());
    policies_release(&policies);
}

Test(policies, what_cannot_be_asked_is_refused_by_its_key)
{
    struct problems problems;
    struct run_config wrong = {.policy = "sin_wise_policy", .order_policy = "balanced"};

    refused((struct run_config){.select_policy = "sin_last_policy"}, TAPML_INVALID,
            "[select] policy: policy 'org.example.sin_last_policy/sin_last_policy' has no function "
            "'select'");
    refused(
        (struct run_config){.order_policy = "balanced"}, TAPML_NOT_FOUND,
        "[order] policy: expected 'auto', 'carved', 'balance', 'cover' or the id of a policy: ");
    problems_init(&problems);
    MUST(ini_parse("run.ini", "", 0, &wrong.ini));
    policies_check(registry, &wrong, &problems);
    cr_expect_eq(problems.count, 2, "%s", problems.text.data);
    problems_release(&problems);
    ini_release(&wrong.ini);
}
