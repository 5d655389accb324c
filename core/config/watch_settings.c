// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "config/watch_settings.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

static const char *const names[WATCH_TRIGGERS + 1] = {
    [WATCH_IDENTITY] = "identity",       [WATCH_COST] = "cost",     [WATCH_DRIFT] = "drift",
    [WATCH_PERFORMANCE] = "performance", [WATCH_POLICY] = "policy",
};

const char *watch_settings_trigger(enum watch_trigger trigger)
{
    return names[trigger];
}

static const double DRIFT = 2, DRIFT_MAX = 1e6, PERFORMANCE = 0.5, PERFORMANCE_MAX = 100;

// The number behind the ':' of a trigger, such as "2" or "50%".
static tapml_status
read_number(const char *word, const char *number, double above, double most, double *out_number)
{
    enum { NUMBER_TEXT = 32 };
    char digits[NUMBER_TEXT];
    const size_t length = strlen(number);
    const int is_share = length > 0 && number[length - 1] == '%';
    double value = 0;

    (void)snprintf(digits, sizeof(digits), "%.*s",
                   (int)(length < NUMBER_TEXT ? length : 0) - is_share, number);
    if (text_parse_f64(digits, &value) != TAPML_OK || !(value / (is_share ? 100 : 1) > above) ||
        !(value / (is_share ? 100 : 1) <= most)) {
        return status_fail(TAPML_INVALID,
                           "expected a number above %g and at most %g behind ':', found '%s'",
                           above, most, word);
    }
    *out_number = value / (is_share ? 100 : 1);
    return TAPML_OK;
}

static tapml_status read_policy(const char *word, const char *name, struct watch_settings *settings)
{
    if (name == NULL || *name == '\0') {
        return status_fail(TAPML_INVALID, "expected 'policy:' and the id of a policy, found '%s'",
                           word);
    }
    if (*settings->policy != '\0') {
        return status_fail(TAPML_INVALID, "expected one policy, found '%s' and '%s'",
                           settings->policy, name);
    }
    (void)snprintf(settings->policy, sizeof(settings->policy), "%s", name);
    return TAPML_OK;
}

static tapml_status
read_word(const char *word, const char *name, const char *number, struct watch_settings *settings)
{
    for (int i = 0; i < WATCH_TRIGGERS; i++) {
        if (strcmp(name, names[i]) != 0) {
            continue;
        }
        settings->is_on |= 1U << i;
        if (i == WATCH_POLICY) {
            return read_policy(word, number, settings);
        }
        if (number == NULL) {
            return TAPML_OK;
        }
        if (i == WATCH_DRIFT) {
            return read_number(word, number, 1, DRIFT_MAX, &settings->drift);
        }
        if (i == WATCH_PERFORMANCE) {
            return read_number(word, number, 0, PERFORMANCE_MAX, &settings->performance);
        }
        return status_fail(TAPML_INVALID, "'%s' takes no number, found '%s'", name, word);
    }
    const char *near = text_nearest(name, names);

    return status_fail(
        TAPML_INVALID,
        "expected triggers (identity cost drift performance policy:ID), found '%s'%s%s%s", name,
        near != NULL ? ", did you mean '" : "", near != NULL ? near : "", near != NULL ? "'?" : "");
}

tapml_status watch_settings_read(const char *words, struct watch_settings *settings)
{
    settings->is_on = 0;
    settings->drift = DRIFT;
    settings->performance = PERFORMANCE;
    settings->policy[0] = '\0';
    while (*(words += strspn(words, " \t")) != '\0') {
        const size_t length = strcspn(words, " \t");
        char word[WATCH_NAME_TEXT], name[WATCH_NAME_TEXT];

        (void)snprintf(word, sizeof(word), "%.*s",
                       (int)(length < WATCH_NAME_TEXT ? length : WATCH_NAME_TEXT), words);
        (void)snprintf(name, sizeof(name), "%.*s", (int)strcspn(word, ":"), word);
        const char *number = strchr(word, ':');

        TAPML_TRY(read_word(word, name, number != NULL ? number + 1 : NULL, settings));
        words += length;
    }
    return settings->is_on != 0
               ? TAPML_OK
               : status_fail(TAPML_INVALID, "expected the name of a trigger, found none");
}
