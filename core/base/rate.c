// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/rate.h"

#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double RATE_MAX = 1e9, HOUR_S = 3600;
static const char PER_HOUR[] = "/h";

struct rate rate_none(void)
{
    return (struct rate){.per_hour = NAN};
}

int rate_is_known(const struct rate *rate)
{
    return !isnan(rate->per_hour);
}

// Whether `size` bytes can be a currency: neither blanks nor characters that are not shown.
static int is_currency(const char *word, size_t size)
{
    if (size == 0 || size >= RATE_CURRENCY) {
        return 0;
    }
    for (size_t i = 0; i < size; i++) {
        if ((unsigned char)word[i] <= ' ' || word[i] == '/' || word[i] == '\x7f') {
            return 0;
        }
    }
    return 1;
}

static int read_amount(const char *word, size_t size, double *out_amount)
{
    return text_parse_f64_part(word, size, out_amount) == TAPML_OK && *out_amount >= 0 &&
           *out_amount <= RATE_MAX;
}

tapml_status rate_read(const char *word, struct rate *out_rate)
{
    const size_t amount = strcspn(word, " ");
    const char *currency = word + amount + strspn(word + amount, " ");
    const size_t length = strlen(currency), end = strlen(PER_HOUR);
    const size_t size = length > end ? length - end : 0;
    struct rate rate = rate_none();

    if (!read_amount(word, amount, &rate.per_hour) || !is_currency(currency, size) ||
        strcmp(currency + size, PER_HOUR) != 0) {
        return status_fail(TAPML_INVALID,
                           "expected an amount and a currency for each hour, such as '2.50 USD/h', "
                           "found '%.60s'",
                           word);
    }
    memcpy(rate.currency, currency, size);
    *out_rate = rate;
    return TAPML_OK;
}

double rate_cost(const struct rate *rate, double seconds)
{
    return rate->per_hour * seconds / HOUR_S;
}

void rate_print(const struct rate *rate, char out_text[RATE_TEXT])
{
    if (rate_is_known(rate)) {
        (void)snprintf(out_text, RATE_TEXT, "%.6g %s%s", rate->per_hour, rate->currency, PER_HOUR);
    } else {
        (void)snprintf(out_text, RATE_TEXT, "no rate");
    }
}

void rate_print_money(double amount, const char *currency, char out_text[RATE_TEXT])
{
    if (isnan(amount)) {
        (void)snprintf(out_text, RATE_TEXT, "?");
    } else if (fabs(amount) >= 100) {
        (void)snprintf(out_text, RATE_TEXT, "%.2f %.15s", amount, currency);
    } else {
        (void)snprintf(out_text, RATE_TEXT, "%.3g %.15s", amount, currency);
    }
}
