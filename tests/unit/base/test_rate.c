// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/rate.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

Test(rate, is_an_amount_and_a_currency_for_an_hour)
{
    static const char *const words[] = {"2.50 USD/h", "2.5 USD/h", "2.5  USD/h"};
    struct rate rate;
    char text[RATE_TEXT];

    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
        cr_assert_eq(rate_read(words[i], &rate), TAPML_OK, "%s", words[i]);
        cr_expect_eq(rate.per_hour, 2.5);
        cr_expect_str_eq(rate.currency, "USD");
        rate_print(&rate, text);
        cr_expect_str_eq(text, "2.5 USD/h");
    }
    cr_expect_float_eq(rate_cost(&rate, 1800), 1.25, 1e-12);
    cr_assert_eq(rate_read("0 \xe2\x82\xac/h", &rate), TAPML_OK);
    cr_expect_eq(rate.per_hour, 0);
    cr_expect_str_eq(rate.currency, "\xe2\x82\xac");
}

Test(rate, what_is_none_is_refused_and_leaves_the_rate)
{
    static const char *const words[] = {"",          "2.50",
                                        "USD/h",     "2.50 USD",
                                        "2.50 /h",   "-1 USD/h",
                                        "nan USD/h", "2 U S/h",
                                        "2 USD/d",   "1e99 USD/h",
                                        "2 /USD/h",  "2 U\tS/h",
                                        "2.5USD/h",  "2 ABCDEFGHIJKLMNOP/h"};
    struct rate rate = {.per_hour = 7, .currency = "EUR"};

    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
        cr_expect_eq(rate_read(words[i], &rate), TAPML_INVALID, "%s", words[i]);
        cr_expect(strstr(status_message(), "such as '2.50 USD/h'"), "%s", status_message());
        cr_expect_eq(rate.per_hour, 7);
    }
}

Test(rate, what_is_not_known_costs_nothing_that_is_known)
{
    const struct rate none = rate_none();
    char text[RATE_TEXT];

    cr_expect_not(rate_is_known(&none));
    cr_expect(isnan(rate_cost(&none, 10)));
    rate_print(&none, text);
    cr_expect_str_eq(text, "no rate");
    rate_print_money(NAN, "USD", text);
    cr_expect_str_eq(text, "?");
    rate_print_money(0.0123456, "USD", text);
    cr_expect_str_eq(text, "0.0123 USD");
    rate_print_money(1234.567, "USD", text);
    cr_expect_str_eq(text, "1234.57 USD");
}
