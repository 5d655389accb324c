// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "tokenizer/unicode.h"

#include "base/alloc.h"
#include "base/utf8.h"
#include "tokenizer/unicode_version.h"

#include <stdlib.h>
#include <utf8proc.h>

enum { CAPITAL_I_WITH_DOT = 0x130, DOT_ABOVE = 0x307 };
enum { DECOMPOSED_MAX = 32, CLASS_SHIFT = 56, PLACE_SHIFT = 24, CODE_MASK = 0xffffff };

struct range {
    uint32_t first, last;
};

int unicode_is_space(uint32_t code)
{
    return (code >= 0x9 && code <= 0xd) || code == 0x20 || code == 0x85 || code == 0xa0 ||
           code == 0x1680 || (code >= 0x2000 && code <= 0x200a) || code == 0x2028 ||
           code == 0x2029 || code == 0x202f || code == 0x205f || code == 0x3000;
}

static int is_within(uint32_t code, utf8proc_category_t first, utf8proc_category_t last)
{
    const utf8proc_category_t category = utf8proc_category((utf8proc_int32_t)code);
    return category >= first && category <= last;
}

// Whether `code` is in a class, where `is_now` says if it is in today's.
static int was_in(enum unicode_version_class class, uint32_t code, int is_now)
{
    return is_now ? !unicode_version_is_late(class, code) : unicode_version_is_former(class, code);
}

int unicode_is_number(uint32_t code)
{
    return is_within(code, UTF8PROC_CATEGORY_ND, UTF8PROC_CATEGORY_NO) ||
           unicode_version_is_new_number(code);
}

int unicode_is_mark(uint32_t code)
{
    return was_in(UNICODE_VERSION_MARK, code,
                  is_within(code, UTF8PROC_CATEGORY_MN, UTF8PROC_CATEGORY_ME));
}

int unicode_is_nonspacing(uint32_t code)
{
    return was_in(UNICODE_VERSION_NONSPACING, code,
                  is_within(code, UTF8PROC_CATEGORY_MN, UTF8PROC_CATEGORY_MN));
}

int unicode_is_other(uint32_t code)
{
    return was_in(UNICODE_VERSION_FORMAT, code,
                  is_within(code, UTF8PROC_CATEGORY_CC, UTF8PROC_CATEGORY_CO));
}

int unicode_is_punctuation(uint32_t code)
{
    return (code >= '!' && code <= '/') || (code >= ':' && code <= '@') ||
           (code >= '[' && code <= '`') || (code >= '{' && code <= '~') ||
           was_in(UNICODE_VERSION_PUNCTUATION, code,
                  is_within(code, UTF8PROC_CATEGORY_PC, UTF8PROC_CATEGORY_PO));
}

int unicode_is_ideograph(uint32_t code)
{
    static const struct range ranges[] = {
        {0x4e00, 0x9fff},   {0x3400, 0x4dbf},   {0x20000, 0x2a6df}, {0x2a700, 0x2b73f},
        {0x2b740, 0x2b81f}, {0x2b920, 0x2ceaf}, {0xf900, 0xfaff},   {0x2f800, 0x2fa1f},
    };
    for (size_t i = 0; i < sizeof(ranges) / sizeof(*ranges); ++i) {
        if (code >= ranges[i].first && code <= ranges[i].last) {
            return 1;
        }
    }
    return 0;
}

void unicode_append(struct text *out, uint32_t code)
{
    utf8proc_uint8_t bytes[4];
    const utf8proc_ssize_t count = utf8proc_encode_char((utf8proc_int32_t)code, bytes);
    text_append_bytes(out, bytes, (size_t)count);
}

uint32_t unicode_next(const char *text, size_t length, size_t *at)
{
    uint32_t code = 0;
    *at += utf8_read(text + *at, length - *at, &code);
    return code;
}

void unicode_lower(struct text *out, const char *text, size_t length)
{
    for (size_t at = 0; at < length;) {
        const uint32_t code = unicode_next(text, length, &at);
        const uint32_t lower = unicode_version_new_lower(code);
        unicode_append(out,
                       lower != code ? lower : (uint32_t)utf8proc_tolower((utf8proc_int32_t)code));
        if (code == CAPITAL_I_WITH_DOT) {
            unicode_append(out, DOT_ABOVE);
        }
    }
}

static int is_ascii(const char *text, size_t length)
{
    for (size_t i = 0; i < length; ++i) {
        if ((unsigned char)text[i] >= 0x80) {
            return 0;
        }
    }
    return 1;
}

static utf8proc_option_t options_of(enum unicode_form form)
{
    const int is_composed = form == UNICODE_NFC || form == UNICODE_NFKC;
    const int is_compatible = form == UNICODE_NFKC || form == UNICODE_NFKD;
    return UTF8PROC_STABLE | (is_composed ? UTF8PROC_COMPOSE : UTF8PROC_DECOMPOSE) |
           (is_compatible ? UTF8PROC_COMPAT : 0);
}

// One character of a decomposed text. Numbers in order are characters in canonical order: by their
// combining class, then by their place.
static uint64_t unit_of(utf8proc_int32_t code, size_t place)
{
    const uint64_t class = (uint64_t)utf8proc_get_property(code)->combining_class;
    return class << CLASS_SHIFT | (uint64_t)place << PLACE_SHIFT | (uint32_t)code;
}

// Writes the units of a text, unless `out_units` is NULL, and their number.
static tapml_status decompose(const char *text,
                              size_t length,
                              utf8proc_option_t options,
                              uint64_t *out_units,
                              size_t *out_count)
{
    size_t count = 0;
    for (size_t at = 0; at < length;) {
        utf8proc_int32_t codes[DECOMPOSED_MAX];
        int bound = 0; // Of graphemes, which these options do not ask for.
        const utf8proc_int32_t code = (utf8proc_int32_t)unicode_next(text, length, &at);
        const utf8proc_ssize_t parts =
            utf8proc_decompose_char(code, codes, DECOMPOSED_MAX, options, &bound);
        if (parts < 0 || parts > DECOMPOSED_MAX) {
            return status_fail(TAPML_INVALID, "normal form: %s", utf8proc_errmsg(parts));
        }
        for (utf8proc_ssize_t i = 0; i < parts; ++i, ++count) {
            if (out_units) {
                out_units[count] = unit_of(codes[i], count);
            }
        }
    }
    *out_count = count;
    return TAPML_OK;
}

static int compare_units(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a;
    const uint64_t y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

// Orders the marks behind each character. utf8proc_decompose exchanges neighbours instead, which
// takes minutes where a hostile text has a hundred thousand marks in a row.
static void order_marks(uint64_t *units, size_t count)
{
    for (size_t begin = 0; begin < count; ++begin) {
        size_t end = begin;
        while (end < count && units[end] >> CLASS_SHIFT != 0) {
            ++end;
        }
        if (end > begin + 1) {
            qsort(units + begin, end - begin, sizeof(*units), compare_units);
        }
        begin = end;
    }
}

static tapml_status normalize(
    struct text *out, utf8proc_option_t options, const char *text, size_t length, uint64_t *units)
{
    size_t count = 0;
    TAPML_TRY(decompose(text, length, options, units, &count));
    order_marks(units, count);
    utf8proc_int32_t *codes = alloc_array(count + 1, sizeof(*codes));
    if (!codes) {
        return status_no_memory();
    }
    for (size_t i = 0; i < count; ++i) {
        codes[i] = (utf8proc_int32_t)(units[i] & CODE_MASK);
    }
    const utf8proc_ssize_t kept = utf8proc_normalize_utf32(codes, (utf8proc_ssize_t)count, options);
    for (utf8proc_ssize_t i = 0; i < kept; ++i) {
        unicode_append(out, (uint32_t)codes[i]);
    }
    alloc_free(codes);
    return text_status(out);
}

static tapml_status
normalize_known(struct text *out, enum unicode_form form, const char *text, size_t length)
{
    const utf8proc_option_t options = options_of(form);
    size_t count = 0;
    if (is_ascii(text, length)) { // It has every form.
        text_append_bytes(out, text, length);
        return text_status(out);
    }
    TAPML_TRY(decompose(text, length, options, NULL, &count));
    uint64_t *units = alloc_array(count + 1, sizeof(*units));
    const tapml_status status =
        units ? normalize(out, options, text, length, units) : status_no_memory();
    alloc_free(units);
    return status;
}

// A character that the normal forms do not know yet has no decomposition and the combining class 0:
// nothing moves or composes over it.
tapml_status
unicode_normalize(struct text *out, enum unicode_form form, const char *text, size_t length)
{
    size_t begin = 0;
    for (size_t at = 0; at < length;) {
        const size_t here = at;
        const uint32_t code = unicode_next(text, length, &at);
        if (code >= 0x80 && unicode_version_is_late(UNICODE_VERSION_FORM, code)) {
            TAPML_TRY(normalize_known(out, form, text + begin, here - begin));
            unicode_append(out, code);
            begin = at;
        }
    }
    return normalize_known(out, form, text + begin, length - begin);
}

size_t unicode_grapheme(const char *text, size_t length)
{
    utf8proc_int32_t state = 0;
    size_t at = 0;
    uint32_t previous = unicode_next(text, length, &at);
    while (at < length) {
        size_t next = at;
        const uint32_t code = unicode_next(text, length, &next);
        if (utf8proc_grapheme_break_stateful((utf8proc_int32_t)previous, (utf8proc_int32_t)code,
                                             &state)) {
            break;
        }
        previous = code;
        at = next;
    }
    return at;
}
