// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What something costs for each hour that it is held, in any currency: "2.50 USD/h". Amounts of
// two currencies are never added.
//
// Plain data, any thread.
#pragma once

#include "base/status.h"

enum { RATE_CURRENCY = 16, RATE_TEXT = 48 };

struct rate {
    double per_hour; // NaN: no rate is known.
    char currency[RATE_CURRENCY];
};

// No rate.
struct rate rate_none(void);
int rate_is_known(const struct rate *rate);

// Reads an amount from 0 on, a blank and a currency of up to 15 bytes without blanks, with "/h"
// behind it. TAPML_INVALID: it is none.
tapml_status rate_read(const char *word, struct rate *out_rate) STATUS_USED;

// The money for so many seconds; NaN without a rate.
double rate_cost(const struct rate *rate, double seconds);

// Writes a rate as rate_read reads it, and an amount, "0.0125 USD", with as many digits as tell
// something. "no rate" and "?" where it is not known.
void rate_print(const struct rate *rate, char out_text[RATE_TEXT]);
void rate_print_money(double amount, const char *currency, char out_text[RATE_TEXT]);
