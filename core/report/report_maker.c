// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/report_maker.h"

#include "base/alloc.h"
#include "base/sentence.h"
#include "base/text.h"
#include "base/utf8.h"

#include <math.h>
#include <string.h>

void report_maker_put(struct report_maker *maker, const char *key, json_t *value)
{
    maker->failed |= json_object_set_new(maker->object, key, value) != 0;
}

static json_t *make_string(const char *given)
{
    json_t *plain = json_string(given);
    const size_t size = strlen(given);
    struct text text;

    if (plain != NULL) {
        return plain;
    }
    text_init(&text);
    for (size_t at = 0; at < size;) {
        uint32_t code = 0;
        const size_t count = utf8_read(given + at, size - at, &code);

        if (code == UTF8_MALFORMED) {
            text_append(&text, "\xef\xbf\xbd");
        } else {
            text_append_bytes(&text, given + at, count);
        }
        at += count;
    }
    plain = text.failed ? NULL : json_string(text.data);
    text_release(&text);
    return plain;
}

json_t *report_maker_string(const char *value)
{
    char room[REPORT_TEXT_BYTES];

    return make_string(value != NULL ? sentence_shorten(value, room, sizeof(room)) : "");
}

json_t *report_maker_number(double value)
{
    return isnan(value)   ? json_string("NaN")
           : isinf(value) ? json_string(value > 0 ? "Infinity" : "-Infinity")
                          : json_real(value);
}

json_t *report_maker_margin(double value)
{
    return isnan(value) ? json_null() : report_maker_number(value);
}

void report_maker_text(struct report_maker *maker, const char *key, const char *value)
{
    report_maker_put(maker, key, report_maker_string(value));
}

void report_maker_lines(struct report_maker *maker, const char *key, const char *value)
{
    const char *given = value != NULL ? value : "";
    const int is_long = strnlen(given, REPORT_LINES_BYTES) == REPORT_LINES_BYTES;
    char *room = is_long ? alloc_new(REPORT_LINES_BYTES) : NULL;

    report_maker_put(maker, key,
                     !is_long       ? make_string(given)
                     : room != NULL ? make_string(sentence_shorten(given, room, REPORT_LINES_BYTES))
                                    : NULL);
    alloc_free(room);
}

void report_maker_count(struct report_maker *maker, const char *key, uint64_t value)
{
    report_maker_put(maker, key, json_integer((json_int_t)value));
}

void report_maker_part(struct report_maker *maker, const char *key, const struct report_maker *part)
{
    maker->failed |= part->failed;
    report_maker_put(maker, key, part->object);
}

void report_maker_append(struct report_maker *maker, json_t *array, const struct report_maker *part)
{
    maker->failed |= part->failed;
    maker->failed |= json_array_append_new(array, part->object) != 0;
}

struct report_maker report_maker_begin(void)
{
    return (struct report_maker){.object = json_object()};
}

tapml_status report_maker_finish(const struct report_maker *maker)
{
    return maker->failed ? status_no_memory() : TAPML_OK;
}
