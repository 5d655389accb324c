// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "choose/budget.h"

#include <criterion/criterion.h>

static void expect(const char *word, enum budget_kind kind, size_t of_1000)
{
    struct case_budget budget;
    char text[BUDGET_TEXT];
    cr_assert_eq(budget_read(word, &budget), TAPML_OK, "%s", status_message());
    cr_expect_eq(budget.kind, kind);
    cr_expect_eq(budget_cases(&budget, 1000), of_1000, "%s", word);
    budget_print(&budget, text);
    cr_expect_str_eq(text, word);
}

Test(budget, cases_shares_and_times_are_read)
{
    expect("200", BUDGET_CASES, 200);
    expect("20000", BUDGET_CASES, 1000);
    expect("2%", BUDGET_SHARE, 20);
    expect("0.01%", BUDGET_SHARE, 1);
    expect("100%", BUDGET_SHARE, 1000);
    expect("600s", BUDGET_SECONDS, 1000);
    expect("0.5s", BUDGET_SECONDS, 1000);
}

Test(budget, all_is_all)
{
    char text[BUDGET_TEXT];
    const struct case_budget budget = {BUDGET_ALL, 0};
    cr_expect_eq(budget_cases(&budget, 7), 7);
    budget_print(&budget, text);
    cr_expect_str_eq(text, "all");
    cr_expect_eq(budget_cases(&(struct case_budget){BUDGET_SHARE, 0.1}, 0), 0);
}

Test(budget, what_is_none_is_refused)
{
    static const char *const wrong[] = {"",
                                        "0",
                                        "-3",
                                        "1.5",
                                        "101%",
                                        "0%",
                                        "%",
                                        "s",
                                        "600m",
                                        "nan",
                                        "inf",
                                        "1e99",
                                        "2 %",
                                        "99999999999999999",
                                        "1111111111111111111111111111111111111111"};
    struct case_budget budget;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        cr_expect_eq(budget_read(wrong[i], &budget), TAPML_INVALID, "'%s'", wrong[i]);
    }
    cr_expect(strstr(status_message(), "expected a number of cases such as '200'"));
}
