// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "choose/choice.h"
#include "judged_store.h"
#include "store/metadata.h"

enum { CASES = 12 };

static void begin(void)
{
    judged_store_begin();
    for (int i = 0; i < CASES / 2; i++) {
        add_silu("layers.0/s", i, 0);
        add_norm("layers.1/n", i, 0);
    }
}

TestSuite(chosen_cases, .init = begin, .fini = judged_store_end, .timeout = 110);

static struct verdict_list judge_by(const char *budget, enum choice_order order)
{
    struct choice_settings settings = {.order = order};
    struct verdict_options options = options_for(exact);
    MUST(budget_read(budget, &settings.budget));
    options.choice = &settings;
    return judge(&options);
}

static void expect_sorted(const struct verdict_list *list)
{
    for (size_t i = 1; i < list->count; i++) {
        cr_expect_lt(list->items[i - 1].case_id, list->items[i].case_id);
    }
}

Test(chosen_cases, what_is_not_chosen_is_not_run_and_runs_later)
{
    struct verdict_list list = judge_by("4", CHOICE_BALANCE);
    cr_expect_eq(list.count, 4);
    cr_expect_eq(list.replayed, 4);
    cr_expect_eq(list.not_run, CASES - 4);
    expect_sorted(&list);
    verdict_list_release(&list);
    cr_expect_eq(number_of("SELECT count(*) FROM result"), 4);
    cr_expect_str_eq(metadata_get(store, "select.gpu.budget"), "4");
    cr_expect(strstr(metadata_get(store, "select.gpu"), "4 of 12 cases"));

    // The same again is there, and more of them add to it.
    list = judge_by("4", CHOICE_COVER);
    cr_expect_eq(list.replayed, 0);
    cr_expect_eq(list.count, 4);
    verdict_list_release(&list);
    list = judge_by("50%", CHOICE_COVER);
    cr_expect_eq(list.replayed, 2);
    cr_expect_eq(list.count, 6);
    expect_sorted(&list);
    verdict_list_release(&list);

    const struct verdict_options options = options_for(exact);
    list = judge(&options);
    cr_expect_eq(list.replayed, CASES - 6);
    cr_expect_eq(list.count, CASES);
    cr_expect_eq(list.not_run, 0);
    verdict_list_release(&list);
    cr_expect_str_eq(metadata_get(store, "select.gpu"), "", "nothing is chosen any more");
}

Test(chosen_cases, verdicts_do_not_depend_on_the_order)
{
    for (int order = CHOICE_CARVED; order <= CHOICE_COVER; order++) {
        struct verdict_list list = judge_by("100%", (enum choice_order)order);
        cr_expect_eq(list.count, CASES);
        expect_sorted(&list);
        for (size_t i = 0; i < list.count; i++) {
            cr_expect_eq(list.items[i].kind, VERDICT_PASS);
        }
        verdict_list_release(&list);
        execute("DELETE FROM result");
    }
}

Test(chosen_cases, a_time_that_is_over_ends_it)
{
    struct verdict_list list = judge_by("0.000000001s", CHOICE_AUTO);
    cr_expect_eq(list.count, 0);
    cr_expect_eq(list.not_run, CASES);
    verdict_list_release(&list);
    list = judge_by("1000s", CHOICE_AUTO);
    cr_expect_eq(list.count, CASES);
    verdict_list_release(&list);
}
