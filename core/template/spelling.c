// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "template/spelling.h"

#include "base/utf8.h"
#include "template/characters.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// One value on its way to a text. Everything written is paid for.
struct spelling {
    struct budget *budget;
    struct text *text;
    const struct spelling_json *json; // NULL: Python's repr.
    int level;
};

static tapml_status spell(struct spelling *spelling, const struct datum *datum);

// -- Numbers -----------------------------------------------------------------------------------

// The shortest digits that read back as the same number, in Python's form.
static void append_real(struct text *text, double real, int is_json)
{
    char digits[40] = "";
    if (isnan(real) || isinf(real)) {
        const char *infinity = is_json ? "Infinity" : "inf";
        text_format(text, "%s%s", real < 0 ? "-" : "",
                    isinf(real) ? infinity : (is_json ? "NaN" : "nan"));
        return;
    }
    int precision = 1;
    do {
        (void)snprintf(digits, sizeof(digits), "%.*e", precision - 1, real);
    } while (strtod(digits, NULL) != real && ++precision <= 17);
    const int exponent = atoi(strchr(digits, 'e') + 1);
    if (exponent < -4 || exponent >= 16) {
        const size_t mantissa = strcspn(digits, "e");
        text_format(text, "%.*se%c%02d", (int)mantissa, digits, exponent < 0 ? '-' : '+',
                    abs(exponent));
        return;
    }
    const int decimals = precision - 1 - exponent;
    text_format(text, "%.*f", decimals > 1 ? decimals : 1, real);
}

// -- Texts -------------------------------------------------------------------------------------

static int is_unprintable(uint32_t code)
{
    return code < 0x20 || (code >= 0x7f && code <= 0xa0) || code == 0xad ||
           (characters_is_space(code) && code != ' ') || (code >= 0x200b && code <= 0x200f) ||
           (code >= 0x202a && code <= 0x202e) || (code >= 0x2060 && code <= 0x206f) ||
           (code >= 0xe000 && code <= 0xf8ff) || code == 0xfeff;
}

// Whether a character of a text stands for itself.
static int is_plain(const struct spelling *spelling, uint32_t code, char quote)
{
    if (code == (unsigned char)quote || code == '\\') {
        return 0;
    }
    if (spelling->json) {
        return code >= 0x20 && (code <= 0x7e || !spelling->json->is_ascii);
    }
    return !is_unprintable(code);
}

static void append_code(const struct spelling *spelling, uint32_t code)
{
    struct text *text = spelling->text;
    if (spelling->json && code >= 0x10000) {
        text_format(text, "\\u%04x\\u%04x", 0xd7c0 + (code >> 10), 0xdc00 + (code & 0x3ff));
    } else if (spelling->json) {
        text_format(text, "\\u%04x", code);
    } else {
        text_format(text, code < 0x100 ? "\\x%02x" : code < 0x10000 ? "\\u%04x" : "\\U%08x", code);
    }
}

// A character that does not stand for itself: by a letter, if it has one, or by its number.
static void append_escaped(const struct spelling *spelling, uint32_t code)
{
    static const char named[] = "\n\r\t\b\f";
    const char *found = code != 0 && code < 0x20 ? strchr(named, (int)code) : NULL;
    if (found && (spelling->json || found < named + 3)) { // Python has no letter for the others.
        text_append_bytes(spelling->text, (char[]){'\\', "nrtbf"[found - named]}, 2);
    } else if (code == '"' || code == '\'' || code == '\\') {
        text_append_bytes(spelling->text, (char[]){'\\', (char)code}, 2);
    } else {
        append_code(spelling, code);
    }
}

// Each character is looked at for a step. Runs of plain ones are copied, another one is printed.
static tapml_status spell_text(struct spelling *spelling, const struct datum *datum)
{
    enum { ESCAPE_STEPS = 8 };
    const char *bytes = datum->text.bytes;
    const size_t length = datum->text.length;
    const int prefers_double =
        !spelling->json && length > 0 && memchr(bytes, '\'', length) && !memchr(bytes, '"', length);
    const char quote = spelling->json || prefers_double ? '"' : '\'';
    TAPML_TRY(budget_spend(spelling->budget, length));
    text_append_bytes(spelling->text, &quote, 1);
    size_t copied = 0;
    for (size_t at = 0; at < length;) {
        uint32_t code = 0;
        const size_t count = utf8_read(bytes + at, length - at, &code);
        if (!is_plain(spelling, code, quote)) {
            TAPML_TRY(budget_spend(spelling->budget, ESCAPE_STEPS));
            text_append_bytes(spelling->text, bytes + copied, at - copied);
            append_escaped(spelling, code);
            copied = at + count;
        }
        at += count;
    }
    text_append_bytes(spelling->text, bytes + copied, length - copied);
    text_append_bytes(spelling->text, &quote, 1);
    return TAPML_OK;
}

// -- Containers --------------------------------------------------------------------------------

// The end of a line and the blanks of the level, where the form has any.
static void break_line(const struct spelling *spelling)
{
    if (spelling->json && spelling->json->indent >= 0) {
        text_format(spelling->text, "\n%*s", spelling->json->indent * spelling->level, "");
    }
}

static void separate(const struct spelling *spelling, size_t index)
{
    const struct spelling_json *json = spelling->json;
    if (index > 0) {
        const char *usual = json && json->indent >= 0 ? "," : ", ";
        text_append(spelling->text, json && json->item_separator ? json->item_separator : usual);
    }
    break_line(spelling);
}

static tapml_status spell_list(struct spelling *spelling, const struct datum *datum)
{
    const int is_tuple = datum->kind == DATUM_TUPLE && !spelling->json;
    const size_t count = datum->list->count;
    text_append(spelling->text, is_tuple ? "(" : "[");
    ++spelling->level;
    for (size_t i = 0; i < count; ++i) {
        separate(spelling, i);
        TAPML_TRY(spell(spelling, &datum->list->items[i]));
    }
    --spelling->level;
    if (count > 0) {
        break_line(spelling);
    }
    text_append(spelling->text, !is_tuple ? "]" : count == 1 ? ",)" : ")");
    return TAPML_OK;
}

static tapml_status spell_key(struct spelling *spelling, const struct datum *key)
{
    const int has_quotes = spelling->json && key->kind != DATUM_TEXT;
    if (has_quotes) { // The keys of JSON are texts.
        text_append(spelling->text, "\"");
    }
    TAPML_TRY(spell(spelling, key));
    if (has_quotes) {
        text_append(spelling->text, "\"");
    }
    text_append(spelling->text, spelling->json && spelling->json->key_separator
                                    ? spelling->json->key_separator
                                    : ": ");
    return TAPML_OK;
}

// The index of the first key behind `last` in their order; the order is quadratic, and paid for.
static tapml_status next_sorted(struct spelling *spelling,
                                const struct datum_map *map,
                                const struct datum *last,
                                size_t *out_index)
{
    *out_index = map->count;
    for (size_t i = 0; i < map->count; ++i) {
        int order = 1;
        if (last) {
            TAPML_TRY(datum_compare(spelling->budget, &map->members[i].key, last, &order));
        }
        if (order > 0 && *out_index < map->count) {
            TAPML_TRY(datum_compare(spelling->budget, &map->members[*out_index].key,
                                    &map->members[i].key, &order));
        }
        *out_index = order > 0 ? i : *out_index;
    }
    return TAPML_OK;
}

static tapml_status spell_map(struct spelling *spelling, const struct datum_map *map)
{
    const int is_sorted = spelling->json && spelling->json->sorts_keys;
    const struct datum *last = NULL;
    text_append(spelling->text, "{");
    ++spelling->level;
    for (size_t i = 0; i < map->count; ++i) {
        size_t index = i;
        if (is_sorted) {
            TAPML_TRY(next_sorted(spelling, map, last, &index));
            if (index == map->count) { // Keys with NaN within, of which none is the next one.
                return status_fail(TAPML_INVALID, "the keys of a map have no order");
            }
            last = &map->members[index].key;
        }
        separate(spelling, i);
        TAPML_TRY(spell_key(spelling, &map->members[index].key));
        TAPML_TRY(spell(spelling, &map->members[index].value));
    }
    --spelling->level;
    if (map->count > 0) {
        break_line(spelling);
    }
    text_append(spelling->text, "}");
    return TAPML_OK;
}

static tapml_status spell_container(struct spelling *spelling, const struct datum *datum)
{
    TAPML_TRY(budget_enter(spelling->budget));
    const tapml_status status =
        datum_is_list(datum) ? spell_list(spelling, datum) : spell_map(spelling, datum->map);
    budget_leave(spelling->budget);
    return status;
}

// -- Any value ---------------------------------------------------------------------------------

static tapml_status spell_plain(struct spelling *spelling, const struct datum *datum)
{
    const int is_json = spelling->json != NULL;
    if (datum->kind == DATUM_NONE) {
        text_append_bytes(spelling->text, &"nullNone"[is_json ? 0 : 4], 4);
        return TAPML_OK;
    }
    if (datum->kind == DATUM_BOOL) {
        const char *plain = datum->integer ? "True" : "False";
        const char *json = datum->integer ? "true" : "false";
        text_append(spelling->text, is_json ? json : plain);
        return TAPML_OK;
    }
    if (datum->kind == DATUM_INTEGER) {
        text_format(spelling->text, "%" PRId64, datum->integer);
        return TAPML_OK;
    }
    if (datum->kind == DATUM_REAL) {
        append_real(spelling->text, datum->real, is_json);
        return TAPML_OK;
    }
    if (datum->kind == DATUM_UNDEFINED && !is_json) {
        text_append(spelling->text, "Undefined");
        return TAPML_OK;
    }
    return status_fail(TAPML_INVALID, "%s cannot be written%s", datum_kind_name(datum),
                       is_json ? " as JSON" : "");
}

static tapml_status spell(struct spelling *spelling, const struct datum *datum)
{
    TAPML_TRY(budget_spend(spelling->budget, 1));
    if (spelling->text->length > spelling->budget->bytes_left) {
        return status_fail(TAPML_INVALID, "the template writes too long a text");
    }
    if (datum->kind == DATUM_TEXT) {
        return spell_text(spelling, datum);
    }
    if (datum_is_list(datum) || datum->kind == DATUM_MAP) {
        return spell_container(spelling, datum);
    }
    return spell_plain(spelling, datum);
}

tapml_status
spelling_append(struct budget *budget, const struct datum *datum, struct text *out_text)
{
    struct spelling spelling = {.budget = budget, .text = out_text};
    if (datum->kind == DATUM_UNDEFINED) {
        return TAPML_OK;
    }
    if (datum->kind != DATUM_TEXT) {
        return spell(&spelling, datum);
    }
    TAPML_TRY(budget_spend_on_bytes(budget, datum->text.length));
    text_append_bytes(out_text, datum->text.bytes, datum->text.length);
    return TAPML_OK;
}

tapml_status
spelling_take(struct budget *budget, tapml_status status, struct text *text, struct datum *out_text)
{
    if (status == TAPML_OK) {
        status = text_status(text);
    }
    if (status == TAPML_OK) {
        status = datum_copy_text(budget, text->data, text->length, out_text);
    }
    text_release(text);
    return status;
}

tapml_status spelling_of(struct budget *budget, const struct datum *datum, struct datum *out_text)
{
    struct text text;
    if (datum->kind == DATUM_TEXT) {
        *out_text = *datum;
        return TAPML_OK;
    }
    text_init(&text);
    return spelling_take(budget, spelling_append(budget, datum, &text), &text, out_text);
}

tapml_status spelling_of_json(struct budget *budget,
                              const struct datum *datum,
                              const struct spelling_json *options,
                              struct datum *out_text)
{
    struct text text;
    struct spelling spelling = {.budget = budget, .text = &text, .json = options};
    text_init(&text);
    return spelling_take(budget, spell(&spelling, datum), &text, out_text);
}
