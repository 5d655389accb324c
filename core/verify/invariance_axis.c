// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/invariance_axis.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

enum { WORD_TEXT = 32 };

static const char *const names[INVARIANCE_AXES] = {
    [INVARIANCE_RUN] = "run",       [INVARIANCE_ROWS] = "rows",   [INVARIANCE_CHUNK] = "chunk",
    [INVARIANCE_VERIFY] = "verify", [INVARIANCE_ORDER] = "order", [INVARIANCE_PARTS] = "parts",
    [INVARIANCE_STRESS] = "stress",
};

static const char *const units[INVARIANCE_AXES] = {
    [INVARIANCE_RUN] = "repetitions",     [INVARIANCE_ROWS] = "rows",
    [INVARIANCE_CHUNK] = "tokens a call", [INVARIANCE_VERIFY] = "drafted tokens",
    [INVARIANCE_ORDER] = "queues",        [INVARIANCE_PARTS] = "parts",
    [INVARIANCE_STRESS] = "repetitions",
};

const char *invariance_axis_name(enum invariance_axis axis)
{
    return names[axis];
}

const char *invariance_axis_unit(enum invariance_axis axis)
{
    return units[axis];
}

const char *invariance_axis_before(enum invariance_axis axis)
{
    static const char *const words[INVARIANCE_AXES] = {
        [INVARIANCE_RUN] = "at repetition ",
        [INVARIANCE_ROWS] = "from ",
        [INVARIANCE_CHUNK] = "in calls of ",
        [INVARIANCE_VERIFY] = "from ",
        [INVARIANCE_ORDER] = "with ",
        [INVARIANCE_PARTS] = "in ",
        [INVARIANCE_STRESS] = "under load at repetition ",
    };
    return words[axis];
}

const char *invariance_axis_behind(enum invariance_axis axis)
{
    static const char *const words[INVARIANCE_AXES] = {
        [INVARIANCE_RUN] = "",
        [INVARIANCE_ROWS] = " rows on",
        [INVARIANCE_CHUNK] = " tokens",
        [INVARIANCE_VERIFY] = " drafted tokens on",
        [INVARIANCE_ORDER] = " queues busy",
        [INVARIANCE_PARTS] = " parts",
        [INVARIANCE_STRESS] = "",
    };
    return words[axis];
}

static tapml_status read_word(const char *word, struct invariance_settings *io_settings)
{
    static const char *const words[] = {"run", "rows", "chunk", "verify", "order", "parts", NULL};
    for (unsigned axis = 0; axis < INVARIANCE_STRESS; axis++) {
        if (strcmp(word, names[axis]) != 0) {
            continue;
        }
        if ((io_settings->axes & 1U << axis) != 0) {
            return status_fail(TAPML_INVALID, "'%s' is given twice", word);
        }
        io_settings->axes |= 1U << axis;
        return TAPML_OK;
    }
    const char *near = text_nearest(word, words);
    return status_fail(TAPML_INVALID,
                       "expected axes (run, rows, chunk, verify, order, parts), found '%s'%s%s%s",
                       word, near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "");
}

tapml_status invariance_axis_read(const char *words, struct invariance_settings *io_settings)
{
    static const char between[] = ", \t";
    const char *at = words;
    while (*(at += strspn(at, between)) != '\0') {
        const size_t length = strcspn(at, between);
        char word[WORD_TEXT];
        (void)snprintf(word, sizeof(word), "%.*s",
                       (int)(length < WORD_TEXT ? length : WORD_TEXT - 1), at);
        TAPML_TRY(read_word(word, io_settings));
        at += length;
    }
    return (io_settings->axes & ~(1U << INVARIANCE_STRESS)) != 0
               ? TAPML_OK
               : status_fail(TAPML_INVALID,
                             "expected axes (run, rows, chunk, verify, order, parts), found none");
}

tapml_status invariance_axis_read_stress(const char *word, struct invariance_settings *io_settings)
{
    const size_t length = strlen(word);
    char digits[WORD_TEXT];
    double percent = 0;
    (void)snprintf(digits, sizeof(digits), "%.*s",
                   length > 0 && length < WORD_TEXT ? (int)length - 1 : 0, word);
    if (length == 0 || word[length - 1] != '%' || text_parse_f64(digits, &percent) != TAPML_OK ||
        !(percent > 0 && percent <= 100)) {
        return status_fail(TAPML_INVALID,
                           "expected a share above 0%% and at most 100%%, such as '2%%', found "
                           "'%s'",
                           word);
    }
    io_settings->stress = percent / 100;
    io_settings->axes |= 1U << INVARIANCE_STRESS;
    return TAPML_OK;
}
