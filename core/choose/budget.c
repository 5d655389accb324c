// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "choose/budget.h"

#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WORD_MAX = 32 };

static const double CASES_MAX = 1e9, SECONDS_MAX = 1e8;

static tapml_status refuse(const char *word)
{
    return status_fail(TAPML_INVALID,
                       "budget is '%.40s', expected a number of cases such as '200', a share such "
                       "as '2%%' or a time such as '600s'",
                       word);
}

tapml_status budget_read(const char *word, struct case_budget *out_budget)
{
    const size_t length = strlen(word);
    const char unit = length > 0 ? word[length - 1] : '\0';
    char number[WORD_MAX];
    double amount = 0;
    if (length >= sizeof(number)) {
        return refuse(word);
    }
    (void)snprintf(number, sizeof(number), "%s", word);
    if (unit == '%' || unit == 's') {
        number[length - 1] = '\0';
    }
    if (text_parse_f64(number, &amount) != TAPML_OK || !(amount > 0)) {
        return refuse(word);
    }
    if (unit == '%' && amount <= 100) {
        *out_budget = (struct case_budget){BUDGET_SHARE, amount / 100};
    } else if (unit == 's' && amount <= SECONDS_MAX) {
        *out_budget = (struct case_budget){BUDGET_SECONDS, amount};
    } else if (unit != '%' && unit != 's' && amount == floor(amount) && amount <= CASES_MAX) {
        *out_budget = (struct case_budget){BUDGET_CASES, amount};
    } else {
        return refuse(word);
    }
    return TAPML_OK;
}

size_t budget_cases(const struct case_budget *budget, size_t count)
{
    double cases = (double)count;
    if (budget->kind == BUDGET_CASES) {
        cases = budget->amount;
    } else if (budget->kind == BUDGET_SHARE) {
        cases = fmax(1, floor(budget->amount * (double)count + 0.5));
    }
    return cases < (double)count ? (size_t)cases : count;
}

void budget_print(const struct case_budget *budget, char out_text[BUDGET_TEXT])
{
    switch (budget->kind) {
    case BUDGET_ALL:
        (void)snprintf(out_text, BUDGET_TEXT, "all");
        break;
    case BUDGET_CASES:
        (void)snprintf(out_text, BUDGET_TEXT, "%.0f", budget->amount);
        break;
    case BUDGET_SHARE:
        (void)snprintf(out_text, BUDGET_TEXT, "%.10g%%", 100 * budget->amount);
        break;
    case BUDGET_SECONDS:
        (void)snprintf(out_text, BUDGET_TEXT, "%.10gs", budget->amount);
        break;
    }
}
