// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// How much of the cases is to run, as a user writes it: "200" cases, "2%" of them, "600s".
//
// Plain data, any thread.
#pragma once

#include "base/status.h"

#include <stddef.h>

enum budget_kind { BUDGET_ALL, BUDGET_CASES, BUDGET_SHARE, BUDGET_SECONDS };

struct case_budget {
    enum budget_kind kind;
    double amount; // Cases, a share from 0 to 1, or seconds.
};

// Reads a budget. TAPML_INVALID: it is none, or not above 0, or above 100%.
tapml_status budget_read(const char *word, struct case_budget *out_budget) STATUS_USED;

// How many of `count` cases it is, at least 1 where there are any; `count` of seconds.
size_t budget_cases(const struct case_budget *budget, size_t count);

enum { BUDGET_TEXT = 32 };

// Prints a budget as `budget_read` reads it; "all" for all.
void budget_print(const struct case_budget *budget, char out_text[BUDGET_TEXT]);
