// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "config/watch_settings.h"

#include <criterion/criterion.h>
#include <string.h>

Test(watch_settings, triggers_are_words_with_numbers)
{
    struct watch_settings settings = {.is_on = 0};

    cr_assert_eq(watch_settings_read("identity  drift:1.5 performance:20%", &settings), TAPML_OK,
                 "%s", status_message());
    cr_expect_eq(settings.is_on,
                 1U << WATCH_IDENTITY | 1U << WATCH_DRIFT | 1U << WATCH_PERFORMANCE);
    cr_expect_eq(settings.drift, 1.5);
    cr_expect_float_eq(settings.performance, 0.2, 1e-12);
    cr_assert_eq(watch_settings_read("cost", &settings), TAPML_OK);
    cr_expect_eq(settings.is_on, 1U << WATCH_COST);
    cr_expect_eq(settings.drift, 2, "it is that of a trigger without a number again");
    cr_expect_eq(settings.performance, 0.5);
    cr_assert_eq(watch_settings_read("cost policy:org.example.x/quick", &settings), TAPML_OK);
    cr_expect_eq(settings.is_on, 1U << WATCH_COST | 1U << WATCH_POLICY);
    cr_expect_str_eq(settings.policy, "org.example.x/quick");
    for (int i = 0; i < WATCH_POLICY; i++) {
        cr_assert_eq(watch_settings_read(watch_settings_trigger((enum watch_trigger)i), &settings),
                     TAPML_OK);
        cr_expect_eq(settings.is_on, 1U << i);
    }
    cr_expect_str_eq(settings.policy, "");
}

static void refused(const char *words, const char *sentence)
{
    struct watch_settings settings = {.is_on = 0};

    cr_assert_eq(watch_settings_read(words, &settings), TAPML_INVALID, "'%s'", words);
    cr_expect_not_null(strstr(status_message(), sentence), "'%s': %s", words, status_message());
}

Test(watch_settings, what_is_none_is_refused)
{
    refused("", "expected the name of a trigger, found none");
    refused("  ", "found none");
    refused("identty", "found 'identty', did you mean 'identity'?");
    refused("identity:3", "'identity' takes no number");
    refused("policy", "expected 'policy:' and the id of a policy, found 'policy'");
    refused("policy:", "found 'policy:'");
    refused("policy:a policy:b", "expected one policy, found 'a' and 'b'");
    refused("drift:1", "above 1 and at most 1e+06 behind ':', found 'drift:1'");
    refused("drift:", "found 'drift:'");
    refused("performance:0%", "found 'performance:0%'");
    refused("performance:nan", "found 'performance:nan'");
    refused("drift:99999999999999999999999999999999999999999999999999999999999999999999999",
            "found");
}
