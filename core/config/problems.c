// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "config/problems.h"

#include "base/sentence.h"
#include "base/utf8.h"

#include <stdarg.h>
#include <string.h>

void problems_init(struct problems *problems)
{
    text_init(&problems->text);
    problems->count = 0;
}

void problems_release(struct problems *problems)
{
    text_release(&problems->text);
    problems->count = 0;
}

// A sentence stays on its line, and commands no terminal.
static void add(struct problems *problems, char *sentence)
{
    utf8_make_plain(sentence);
    for (char *at = sentence; *at != '\0'; at++) {
        *at = (char)(*at == '\n' ? ' ' : *at);
    }
    text_append(&problems->text, sentence);
    text_append(&problems->text, "\n");
    problems->count++;
}

void problems_add(struct problems *problems, const char *format, ...)
{
    char sentence[SENTENCE_BYTES];
    va_list list;

    va_start(list, format);
    sentence_format(sentence, sizeof(sentence), format, list);
    va_end(list);
    add(problems, sentence);
}

void problems_refuse(struct problems *problems,
                     const struct ini *ini,
                     const char *section,
                     const char *key,
                     const char *format,
                     ...)
{
    const struct ini_entry *entry = ini_find(ini, section, key);
    char sentence[SENTENCE_BYTES];
    va_list list;

    va_start(list, format);
    sentence_format(sentence, sizeof(sentence), format, list);
    va_end(list);
    problems_add(problems, "%s:%u: [%s] %s: %s", ini->name, entry != NULL ? entry->line : 0,
                 section, key, sentence);
}

void problems_take(struct problems *problems, tapml_status status)
{
    if (status != TAPML_OK) {
        problems_add(problems, "%s", status_message());
    }
}

tapml_status problems_status(const struct problems *problems, const char *lister)
{
    TAPML_TRY(text_status(&problems->text));
    const int length = (int)strcspn(problems->text.data, "\n");

    if (problems->count == 0) {
        return TAPML_OK;
    }
    return problems->count == 1
               ? status_fail(TAPML_INVALID, "%.*s", length, problems->text.data)
               : status_fail(TAPML_INVALID, "%.*s (and %zu more%s%s)", length, problems->text.data,
                             problems->count - 1, lister != NULL ? ", reported by " : "",
                             lister != NULL ? lister : "");
}
