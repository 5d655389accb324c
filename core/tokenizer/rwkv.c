// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "tokenizer/rwkv.h"

#include "base/alloc.h"
#include "base/text.h"
#include "tokenizer/unicode.h"

#include <stdlib.h>
#include <string.h>

enum { NUMBER_DIGITS_MAX = 9, CODE_MAX = 0x10ffff };

// -- Literals ----------------------------------------------------------------------------------

struct literal {
    const char *at, *end;
    int is_bytes;
    struct text *out;
};

static int digit_of(char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *at = c != '\0' ? strchr(digits, c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c) : NULL;
    return at ? (int)(at - digits) : -1;
}

// \xHH, \uHHHH and \UHHHHHHHH; `at` is behind the letter. In a text \xHH is a character.
static int read_code(struct literal *literal, size_t digits)
{
    uint32_t code = 0;
    if ((size_t)(literal->end - literal->at) < digits) {
        return 0;
    }
    for (size_t i = 0; i < digits; ++i) {
        const int digit = digit_of(*literal->at++);
        if (digit < 0) {
            return 0;
        }
        code = code << 4 | (uint32_t)digit;
    }
    if (literal->is_bytes) {
        const unsigned char byte = (unsigned char)code;
        text_append_bytes(literal->out, &byte, 1);
        return digits == 2;
    }
    if (code > CODE_MAX || (code >= 0xd800 && code <= 0xdfff)) {
        return 0;
    }
    unicode_append(literal->out, code);
    return 1;
}

// What a backslash begins; `at` is behind it.
static int read_escape(struct literal *literal)
{
    static const char letters[] = "\\'\"nrtabfv0";
    static const char values[] = "\\'\"\n\r\t\a\b\f\v\0";
    if (literal->at == literal->end) {
        return 0;
    }
    const char letter = *literal->at++;
    if (letter == 'x' || letter == 'u' || letter == 'U') {
        return read_code(literal, letter == 'x' ? 2 : letter == 'u' ? 4 : 8);
    }
    const char *found = letter != '\0' ? strchr(letters, letter) : NULL;
    if (found) {
        text_append_bytes(literal->out, &values[found - letters], 1);
    }
    return found != NULL;
}

// Appends the bytes of a literal: '...', "..." or b'...'. Returns 0 if it is none.
static int read_literal(const char *text, size_t length, struct text *out)
{
    struct literal literal = {.at = text, .end = text + length, .out = out};
    literal.is_bytes = length > 0 && *text == 'b';
    literal.at += literal.is_bytes;
    const char quote = literal.at < literal.end ? *literal.at++ : '\0';
    if (quote != '\'' && quote != '"') {
        return 0;
    }
    while (literal.at < literal.end && *literal.at != quote) {
        const char next = *literal.at++;
        if (next != '\\') {
            text_append_bytes(out, &next, 1);
        } else if (!read_escape(&literal)) {
            return 0;
        }
    }
    return literal.end - literal.at == 1;
}

// -- Lines -------------------------------------------------------------------------------------

// A number that ends at `end`; -1: none
static int64_t read_number(const char *text, const char *end)
{
    char digits[NUMBER_DIGITS_MAX + 1] = "";
    int64_t value = -1;
    if (end - text > NUMBER_DIGITS_MAX || end <= text) {
        return -1;
    }
    memcpy(digits, text, (size_t)(end - text));
    return text_parse_i64(digits, &value) == TAPML_OK ? value : -1;
}

static tapml_status
add_line(struct parts *parts, const char *text, size_t length, size_t line, struct text *bytes)
{
    const char *first = memchr(text, ' ', length);
    const char *last = memrchr(text, ' ', length);
    text_clear(bytes);
    const int64_t id = first ? read_number(text, first) : -1;
    const int64_t size = last ? read_number(last + 1, text + length) : -1;
    const int is_literal =
        first && last && last > first && read_literal(first + 1, (size_t)(last - first) - 1, bytes);
    TAPML_TRY(text_status(bytes));
    if (id < 0 || !is_literal || size != (int64_t)bytes->length || size == 0) {
        return status_fail(TAPML_INVALID,
                           "%s:%zu: expected an id, a literal of Python and its length in bytes",
                           parts->name, line);
    }
    return vocabulary_add(parts->vocabulary, bytes->data, bytes->length, id);
}

// -- Encoding ----------------------------------------------------------------------------------

static tapml_status rwkv_encode(const void *model,
                                struct piece_work *work,
                                const char *piece,
                                size_t length,
                                struct ids *out_ids)
{
    for (size_t at = 0; at < length;) {
        const struct vocabulary_token *token = prefixes_longest(model, piece + at, length - at);
        if (!token) {
            return status_fail(TAPML_INVALID, "the tokenizer has no token for the byte 0x%02x",
                               (unsigned)(unsigned char)piece[at]);
        }
        TAPML_TRY(ids_add(out_ids, token->id));
        at += token->length;
    }
    return TAPML_OK;
}

static void rwkv_destroy(void *model)
{
    prefixes_destroy(model);
}

static const struct piece_encoder_type rwkv_type = {.encode = rwkv_encode, .destroy = rwkv_destroy};

tapml_status rwkv_read(const char *text, size_t size, struct parts *parts)
{
    struct prefixes *prefixes = NULL;
    size_t count = 0;
    TAPML_TRY(vocabulary_create(parts->name, &parts->vocabulary));
    TAPML_TRY(parts_add_lines(parts, text, size, add_line));
    TAPML_TRY(vocabulary_finish(parts->vocabulary));
    const struct vocabulary_token *tokens = vocabulary_all(parts->vocabulary, &count);
    TAPML_TRY(prefixes_create(tokens, count, &prefixes));
    parts->encoder = (struct piece_encoder){.type = &rwkv_type, .model = prefixes};
    return decoder_create_bytes(&parts->decoder);
}
