// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/duration.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

Test(duration, has_a_unit)
{
    static const struct {
        const char *word;
        double seconds;
    } words[] = {{"250ms", 0.25}, {"90s", 90}, {"20min", 1200}, {"1.5 h", 5400}, {"2d", 172800}};

    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
        double seconds = 0;

        cr_assert_eq(duration_read(words[i].word, &seconds), TAPML_OK, "%s", words[i].word);
        cr_expect_float_eq(seconds, words[i].seconds, 1e-9);
    }
}

Test(duration, what_is_none_is_refused)
{
    static const char *const words[] = {"",     "20",      "min",  "-3s", "0s",
                                        "1e3s", "3 weeks", "400d", "s20", "1..2s"};
    double seconds = 7;

    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
        cr_expect_eq(duration_read(words[i], &seconds), TAPML_INVALID, "%s", words[i]);
        cr_expect(strstr(status_message(), "such as '90s'"), "%s", status_message());
        cr_expect_eq(seconds, 7);
    }
}

Test(duration, is_written_in_the_unit_that_suits_it)
{
    static const struct {
        double seconds;
        const char *text;
    } times[] = {{0.0123, "12.3 ms"}, {0.9999, "1 s"}, {1.31, "1.31 s"}, {90, "1.5 min"},
                 {1200, "20 min"},    {9000, "2.5 h"}, {259200, "3 d"}};
    char text[DURATION_TEXT];

    for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
        duration_print(times[i].seconds, text);
        cr_expect_str_eq(text, times[i].text);
    }
    duration_print(NAN, text);
    cr_expect_str_eq(text, "?");
}
