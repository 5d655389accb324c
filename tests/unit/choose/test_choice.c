// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "../store/new_store.h"
#include "choose/choice.h"
#include "choose/feature_set.h"
#include "choose/risk.h"
#include "harness/cases.h"
#include "harness/policies.h"
#include "plugin/policy.h"

#include <math.h>

enum { LAYERS = 12, STEPS = 4, CASES = 2 * LAYERS * STEPS };

// Cases of two ops, with times of the source.
static void begin(void)
{
    make_store();
    for (int layer = 0; layer < LAYERS; layer++) {
        for (int step = 0; step < STEPS; step++) {
            char name[64];
            struct cases_silu silu;
            struct cases_append append;
            (void)snprintf(name, sizeof(name), "layers.%d/silu", layer);
            cases_make_silu(&silu, name, step);
            silu.x[0] += (float)(layer * step);
            (void)add(&silu.item);
            MUST(feature_set_add(store, &silu.item, arena));
            (void)snprintf(name, sizeof(name), "layers.%d/append", layer);
            cases_make_append(&append, name, step);
            (void)add(&append.item);
        }
    }
    execute("INSERT INTO call (instance, prompt, step, part, phase, shape_class, time_ns, kept)"
            " SELECT instance, prompt, step, part, phase, shape_class,"
            "  iif(op = 'tapml.silu', 1000, 4000), 1 FROM \"case\"");
}

TestSuite(choice, .init = begin, .fini = remove_store);

static struct case_choice choose(const char *budget, enum choice_order order)
{
    struct choice_options options = {.settings.order = order, .target = ""};
    struct case_choice choice;
    if (budget) {
        MUST(budget_read(budget, &options.settings.budget));
    }
    MUST(choice_make(store, &options, arena, &choice));
    return choice;
}

static void expect_each_once(const struct case_choice *choice)
{
    uint8_t is_there[CASES] = {0};
    cr_assert_eq(choice->count, CASES);
    for (size_t i = 0; i < choice->chosen; i++) {
        cr_assert_lt(choice->order[i], CASES);
        cr_assert_eq(is_there[choice->order[i]]++, 0);
    }
}

Test(choice, a_budget_is_kept_in_every_order)
{
    static const enum choice_order orders[] = {CHOICE_AUTO, CHOICE_CARVED, CHOICE_BALANCE,
                                               CHOICE_COVER};
    for (size_t i = 0; i < sizeof(orders) / sizeof(*orders); i++) {
        const struct case_choice choice = choose("10", orders[i]);
        cr_expect_eq(choice.chosen, 10);
        expect_each_once(&choice);
        cr_expect_eq(choice.policy, orders[i] == CHOICE_AUTO ? CHOICE_CARVED : orders[i]);
    }
    const struct case_choice carved = choose("10", CHOICE_CARVED);
    for (size_t i = 1; i < carved.chosen; i++) {
        cr_expect_lt(carved.order[i - 1], carved.order[i]);
    }
    cr_expect_eq(choose("25%", CHOICE_COVER).chosen, CASES / 4);
}

Test(choice, without_a_budget_all_run)
{
    for (int order = CHOICE_CARVED; order <= CHOICE_COVER; order++) {
        char text[CHOICE_TEXT];
        const struct case_choice choice = choose(NULL, (enum choice_order)order);
        cr_expect_eq(choice.chosen, CASES);
        cr_expect_not(choice.has_selected);
        expect_each_once(&choice);
        choice_print(&choice, text);
        cr_expect(strstr(text, choice_order_name((enum choice_order)order)), "%s", text);
    }
}

Test(choice, seconds_are_predicted_from_what_is_known)
{
    // A quarter of all that the source took.
    const struct case_choice choice = choose("0.00006s", CHOICE_AUTO);
    cr_assert(choice.has_times);
    cr_expect_not(choice.is_of_target);
    cr_expect_eq(choice.times.known, CASES);
    cr_expect_eq(choice.policy, CHOICE_COVER);
    cr_expect(choice.chosen > 10 && choice.chosen < CASES, "%zu", choice.chosen);
    cr_expect(choice.seconds > 0.00004 && choice.seconds <= 0.00006 * 1.001, "%g", choice.seconds);
}

Test(choice, the_sentence_says_what_it_is_worth_and_what_is_left)
{
    char text[CHOICE_TEXT];
    struct case_choice choice = choose("10", CHOICE_AUTO);
    choice_print(&choice, text);
    cr_expect(strstr(text, "10 of 96 cases, in the order 'carved', worth at least "), "%s", text);
    cr_expect(strstr(text, "; the other 86 are not run"), "%s", text);
    choice = choose("1", CHOICE_AUTO);
    choice_print(&choice, text);
    cr_expect(strstr(text, "leaves 3 of 4 signatures without a case"), "%s", text);
    choice = choose("60%", CHOICE_AUTO);
    choice_print(&choice, text);
    cr_expect(strstr(text, "more than half of them, of which no bound says anything"), "%s", text);
}

static double fail_silu(void *user, const char *op)
{
    return strcmp(op, user) == 0;
}

Test(choice, ops_that_have_failed_come_first)
{
    struct choice_options options = {
        .settings = {.budget = {BUDGET_CASES, 20}, .order = CHOICE_COVER},
        .target = "",
        .find_failures = fail_silu,
        .user = (void *)(uintptr_t) "tapml.silu"};
    struct case_choice choice;
    size_t silu = 0;
    MUST(choice_make(store, &options, arena, &choice));
    for (size_t i = 0; i < choice.chosen; i++) {
        silu += strcmp(choice.cases[choice.order[i]].op, "tapml.silu") == 0;
    }
    cr_expect_gt(silu, 10, "%zu", silu);
}

Test(choice, policies_of_plugins_choose_and_order)
{
    struct registry *registry = policies_of_the_zoo();
    struct choice_options options = {.target = ""};
    struct case_choice choice;
    char sentence[CHOICE_TEXT];

    MUST(policy_create(registry, "sin_wise_policy", POLICY_SELECT, &options.settings.selector));
    MUST(budget_read("4", &options.settings.budget));
    MUST(choice_make(store, &options, arena, &choice));
    expect_each_once(&choice);
    cr_expect_eq(choice.chosen, 4);
    cr_expect_eq(choice.order[0], CASES - 4, "as the source called them");
    choice_print(&choice, sentence);
    cr_expect_str_eq(
        sentence, "4 of 96 cases, in the order 'carved', chosen by the policy "
                  "org.example.sin_wise_policy/sin_wise_policy 1.0.0, without a certificate; "
                  "the budget leaves 2 of 4 signatures without a case; the other 92 are not run");

    options.settings.order = CHOICE_COVER;
    MUST(choice_make(store, &options, arena, &choice));
    cr_expect_eq(choice.order[0], CASES - 1, "as they were chosen");

    MUST(policy_create(registry, "sin_wise_policy", POLICY_ORDER_CASES, &options.settings.sorter));
    options.settings.order = CHOICE_AUTO;
    options.settings.budget.kind = BUDGET_ALL;
    MUST(choice_make(store, &options, arena, &choice));
    cr_expect_eq(choice.chosen, CASES, "without a budget nothing is chosen");
    expect_each_once(&choice);
    cr_expect_eq(choice.order[0], CASES - 1);
    choice_print(&choice, sentence);
    cr_expect_str_eq(sentence, "all 96 cases, in the order of the policy "
                               "org.example.sin_wise_policy/sin_wise_policy 1.0.0");
    policy_destroy(options.settings.selector);
    policy_destroy(options.settings.sorter);
    policies_close(registry);
}
