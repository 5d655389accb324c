// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "tokenizer/unicode.h"

#include "base/alloc.h"
#include "base/utf8.h"

#include <utf8proc.h>

enum { CAPITAL_I_WITH_DOT = 0x130, DOT_ABOVE = 0x307 };

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

int unicode_is_number(uint32_t code)
{
    return is_within(code, UTF8PROC_CATEGORY_ND, UTF8PROC_CATEGORY_NO);
}

int unicode_is_mark(uint32_t code)
{
    return is_within(code, UTF8PROC_CATEGORY_MN, UTF8PROC_CATEGORY_ME);
}

int unicode_is_nonspacing(uint32_t code)
{
    return is_within(code, UTF8PROC_CATEGORY_MN, UTF8PROC_CATEGORY_MN);
}

int unicode_is_other(uint32_t code)
{
    return is_within(code, UTF8PROC_CATEGORY_CC, UTF8PROC_CATEGORY_CO) ||
           is_within(code, UTF8PROC_CATEGORY_CN, UTF8PROC_CATEGORY_CN);
}

int unicode_is_punctuation(uint32_t code)
{
    return (code >= '!' && code <= '/') || (code >= ':' && code <= '@') ||
           (code >= '[' && code <= '`') || (code >= '{' && code <= '~') ||
           is_within(code, UTF8PROC_CATEGORY_PC, UTF8PROC_CATEGORY_PO);
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
        unicode_append(out, (uint32_t)utf8proc_tolower((utf8proc_int32_t)code));
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

tapml_status
unicode_normalize(struct text *out, enum unicode_form form, const char *text, size_t length)
{
    if (is_ascii(text, length)) { // It has every form.
        text_append_bytes(out, text, length);
        return text_status(out);
    }
    const utf8proc_option_t options = options_of(form);
    const utf8proc_uint8_t *bytes = (const utf8proc_uint8_t *)text;
    const utf8proc_ssize_t need =
        utf8proc_decompose(bytes, (utf8proc_ssize_t)length, NULL, 0, options);
    if (need < 0) {
        return status_fail(TAPML_INVALID, "normal form: %s", utf8proc_errmsg(need));
    }
    utf8proc_int32_t *codes = alloc_array((size_t)need + 1, sizeof(*codes));
    if (!codes) {
        return status_no_memory();
    }
    const utf8proc_ssize_t count =
        utf8proc_decompose(bytes, (utf8proc_ssize_t)length, codes, need, options);
    const utf8proc_ssize_t kept = utf8proc_normalize_utf32(codes, count, options);
    for (utf8proc_ssize_t i = 0; i < kept; ++i) {
        unicode_append(out, (uint32_t)codes[i]);
    }
    alloc_free(codes);
    return text_status(out);
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
