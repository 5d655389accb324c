// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "template/lexer.h"

#include "base/text.h"
#include "base/utf8.h"
#include "template/characters.h"

#include <stdlib.h>
#include <string.h>

enum { BRACKETS_MAX = 200, NUMBER_LENGTH_MAX = 40, NAME_LENGTH_MAX = 256 };

struct lexer {
    struct budget *budget;
    const char *name;
    const char *source; // Line ends are \n.
    size_t length, at;
    unsigned line;
    int begins_line; // What was read last ended with a line end, or nothing was read.
    struct tokens tokens;
    char brackets[BRACKETS_MAX]; // Those that are open within a tag.
    size_t bracket_count;
};

static tapml_status failed(const struct lexer *lexer, const char *what)
{
    return status_fail(TAPML_INVALID, "%s:%u: %s", lexer->name, lexer->line, what);
}

static int is_at(const struct lexer *lexer, const char *piece)
{
    const size_t length = strlen(piece);
    return lexer->length - lexer->at >= length &&
           memcmp(lexer->source + lexer->at, piece, length) == 0;
}

// Goes on by `count` bytes, which are read.
static void advance(struct lexer *lexer, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        lexer->line += lexer->source[lexer->at + i] == '\n';
    }
    lexer->at += count;
    if (count > 0) {
        lexer->begins_line = lexer->source[lexer->at - 1] == '\n';
    }
}

static tapml_status add_token(struct lexer *lexer, const struct token *token)
{
    TAPML_TRY(budget_spend(lexer->budget, 1));
    TAPML_TRY(budget_grow(lexer->budget, (void **)&lexer->tokens.items, lexer->tokens.count,
                          sizeof(*token)));
    lexer->tokens.items[lexer->tokens.count++] = *token;
    return TAPML_OK;
}

static tapml_status
add_bytes(struct lexer *lexer, enum token_kind kind, const char *bytes, size_t length)
{
    void *copy = NULL;
    TAPML_TRY(budget_array(lexer->budget, length + 1, 1, &copy));
    memcpy(copy, bytes, length);
    return add_token(
        lexer, &(struct token){.kind = kind, .line = lexer->line, .bytes = copy, .length = length});
}

// -- Outside of tags ---------------------------------------------------------------------------

static void skip_space(struct lexer *lexer)
{
    advance(lexer, characters_space_before(lexer->source + lexer->at, lexer->length - lexer->at));
}

// The length of the text up to the next tag.
static size_t find_tag(const struct lexer *lexer)
{
    const char *begin = lexer->source + lexer->at;
    const char *end = lexer->source + lexer->length;
    for (const char *at = begin; at + 1 < end; ++at) {
        if (at[0] == '{' && (at[1] == '{' || at[1] == '%' || at[1] == '#')) {
            return (size_t)(at - begin);
        }
    }
    return (size_t)(end - begin);
}

// The length that is left of the text before a tag.
static size_t strip_before(const struct lexer *lexer, size_t length)
{
    const char *text = lexer->source + lexer->at;
    const char *tag = text + length;
    if (tag == lexer->source + lexer->length) {
        return length;
    }
    const char sign = tag + 2 < lexer->source + lexer->length ? tag[2] : '\0';
    const size_t blanks = characters_space_behind(text, length);
    if (sign == '-') {
        return length - blanks;
    }
    if (sign == '+' || tag[1] == '{') {
        return length;
    }
    size_t line = length;
    while (line > 0 && text[line - 1] != '\n') {
        --line;
    }
    const int strips = (line > 0 || lexer->begins_line) && blanks >= length - line;
    return strips ? line : length;
}

static tapml_status skip_comment(struct lexer *lexer)
{
    const char *begin = lexer->source + lexer->at;
    const char *end = memmem(begin + 2, lexer->length - lexer->at - 2, "#}", 2);
    if (!end) {
        return failed(lexer, "a comment does not end");
    }
    advance(lexer, (size_t)(end - begin) + 2);
    if (end[-1] == '-' && end - begin > 2) {
        skip_space(lexer);
    } else if ((end[-1] != '+' || end - begin == 2) && is_at(lexer, "\n")) {
        advance(lexer, 1);
    }
    return TAPML_OK;
}

// -- Within tags -------------------------------------------------------------------------------

static int is_letter(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '_';
}

static int is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

static tapml_status read_name(struct lexer *lexer)
{
    const char *begin = lexer->source + lexer->at;
    size_t length = 0;
    while (lexer->at + length < lexer->length &&
           (is_letter(begin[length]) || is_digit(begin[length]))) {
        ++length;
    }
    if (length > NAME_LENGTH_MAX) { // To compare two of them is one step.
        return failed(lexer, "expected a name of at most 256 letters");
    }
    TAPML_TRY(add_bytes(lexer, TOKEN_NAME, begin, length));
    advance(lexer, length);
    return TAPML_OK;
}

static size_t count_digits(const struct lexer *lexer, size_t offset)
{
    size_t count = 0;
    while (lexer->at + offset + count < lexer->length &&
           is_digit(lexer->source[lexer->at + offset + count])) {
        ++count;
    }
    return count;
}

// The length of ".5", "e-3" and so on behind the digits; 0: it is an integer.
static size_t count_fraction(const struct lexer *lexer, size_t offset)
{
    const char *text = lexer->source + lexer->at;
    size_t length = 0;
    if (text[offset] == '.' && count_digits(lexer, offset + 1) > 0) {
        length = 1 + count_digits(lexer, offset + 1);
    }
    const char *rest = text + offset + length;
    if (*rest == 'e' || *rest == 'E') {
        const size_t sign = rest[1] == '-' || rest[1] == '+';
        const size_t digits = count_digits(lexer, offset + length + 1 + sign);
        length += digits > 0 ? 1 + sign + digits : 0;
    }
    return length;
}

// The source ends with a zero byte, so that what stands behind a number may be looked at.
static tapml_status read_number(struct lexer *lexer)
{
    const char *text = lexer->source + lexer->at;
    const size_t digits = count_digits(lexer, 0);
    const size_t fraction = count_fraction(lexer, digits);
    const size_t length = digits + fraction;
    struct token token = {.kind = fraction > 0 ? TOKEN_REAL : TOKEN_INTEGER, .line = lexer->line};
    char word[NUMBER_LENGTH_MAX];
    if (length >= sizeof(word) || is_letter(text[length]) || (text[0] == '0' && digits > 1)) {
        return failed(lexer, "expected a decimal number");
    }
    memcpy(word, text, length);
    word[length] = '\0';
    if (fraction > 0) {
        token.real = strtod(word, NULL);
    } else if (text_parse_i64(word, &token.integer) != TAPML_OK) {
        return failed(lexer, "expected an integer of 64 bits");
    }
    advance(lexer, length);
    return add_token(lexer, &token);
}

// The code of `count` digits of base 16; UTF8_MALFORMED where they are not there.
static uint32_t read_hex(const char *at, const char *end, size_t count)
{
    uint32_t code = 0;
    for (size_t i = 0; i < count; ++i) {
        static const char digits[] = "0123456789abcdef0123456789ABCDEF";
        const char *found = at + i < end && at[i] ? strchr(digits, at[i]) : NULL;
        if (!found) {
            return UTF8_MALFORMED;
        }
        code = code << 4 | (uint32_t)((found - digits) & 15);
    }
    return code;
}

// Reads the escape behind a backslash; the result is its length.
static tapml_status
read_escape(const struct lexer *lexer, const char *at, const char *end, char *out, size_t *lengths)
{
    static const char plain[] = "n\nt\tr\r\\\\'\'\"\"a\ab\bf\fv\v";
    const size_t digits = *at == 'x' ? 2 : *at == 'u' ? 4 : *at == 'U' ? 8 : 0;
    lengths[0] = 1;
    lengths[1] = 1;
    for (const char *entry = plain; *entry; entry += 2) {
        if (*entry == *at) {
            *out = entry[1];
            return TAPML_OK;
        }
    }
    if (*at == '\n') {
        lengths[1] = 0;
        return TAPML_OK;
    }
    if (digits > 0) {
        const uint32_t code = read_hex(at + 1, end, digits);
        if (code == 0 || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) {
            return failed(lexer, "an escape in a text is the code of no character");
        }
        lengths[0] = 1 + digits;
        lengths[1] = characters_write(code, out);
        return TAPML_OK;
    }
    if (is_digit(*at) || *at == 'N' || (unsigned char)*at >= 0x80) {
        return failed(lexer,
                      "octal and named escapes in a text, and a backslash before a character "
                      "beyond ASCII, are unsupported");
    }
    out[0] = '\\'; // Python keeps what it does not know.
    lengths[0] = 0;
    return TAPML_OK;
}

static tapml_status read_text(struct lexer *lexer)
{
    const char *begin = lexer->source + lexer->at;
    const char *end = begin + 1;
    const char *limit = lexer->source + lexer->length;
    void *memory = NULL;
    while (end < limit && *end != *begin) {
        end += *end == '\\' ? 2 : 1;
    }
    if (end >= limit) {
        return failed(lexer, "a text does not end");
    }
    // An escape is never shorter than its character, but for the backslash that stays.
    TAPML_TRY(budget_array(lexer->budget, (size_t)(end - begin) + 4, 1, &memory));
    char *out = memory;
    for (const char *at = begin + 1; at < end;) {
        size_t lengths[2] = {1, 1};
        if (*at == '\\') {
            TAPML_TRY(read_escape(lexer, at + 1, end, out, lengths));
            ++at;
        } else {
            *out = *at;
        }
        at += lengths[0];
        out += lengths[1];
    }
    *out = '\0';
    const struct token token = {.kind = TOKEN_TEXT,
                                .line = lexer->line,
                                .bytes = memory,
                                .length = (size_t)(out - (char *)memory)};
    advance(lexer, (size_t)(end - begin) + 1);
    return add_token(lexer, &token);
}

// Keeps account of brackets, since '}}' may end a map instead of a tag.
static tapml_status note_bracket(struct lexer *lexer, char bracket)
{
    if (strchr("([{", bracket)) {
        if (lexer->bracket_count == BRACKETS_MAX) {
            return failed(lexer, "brackets are nested too deeply");
        }
        lexer->brackets[lexer->bracket_count++] = bracket == '(' ? ')' : bracket == '[' ? ']' : '}';
    } else if (strchr(")]}", bracket)) {
        if (lexer->bracket_count == 0 || lexer->brackets[--lexer->bracket_count] != bracket) {
            return failed(lexer, "a bracket closes that was not opened");
        }
    }
    return TAPML_OK;
}

static tapml_status read_operator(struct lexer *lexer)
{
    static const char *const operators[] = {
        "//", "**", "==", "!=", ">=", "<=", "+", "-", "/", "*", "%", "~", "[",  "]",
        "(",  ")",  "{",  "}",  ">",  "<",  "=", ".", ":", "|", ",", ";", NULL,
    };
    for (size_t i = 0; operators[i]; ++i) {
        if (is_at(lexer, operators[i])) {
            TAPML_TRY(note_bracket(lexer, operators[i][0]));
            TAPML_TRY(add_bytes(lexer, TOKEN_OPERATOR, operators[i], strlen(operators[i])));
            advance(lexer, strlen(operators[i]));
            return TAPML_OK;
        }
    }
    return failed(lexer, "a tag has a character that means nothing there");
}

// Whether a tag ends here; it is then passed over with the white space that it takes.
static int end_tag(struct lexer *lexer, int is_block)
{
    const char *end = is_block ? "%}" : "}}";
    const char sign = lexer->source[lexer->at];
    const int has_sign = sign == '-' || (sign == '+' && is_block);
    lexer->at += has_sign;
    if (!is_at(lexer, end)) {
        lexer->at -= has_sign;
        return 0;
    }
    advance(lexer, 2);
    if (sign == '-') {
        skip_space(lexer);
    } else if (is_block && sign != '+' && is_at(lexer, "\n")) {
        advance(lexer, 1);
    }
    return 1;
}

static tapml_status read_in_tag(struct lexer *lexer)
{
    const char byte = lexer->source[lexer->at];
    if (is_letter(byte)) {
        return read_name(lexer);
    }
    if (is_digit(byte)) {
        return read_number(lexer);
    }
    return byte == '\'' || byte == '"' ? read_text(lexer) : read_operator(lexer);
}

static tapml_status read_tag(struct lexer *lexer)
{
    const int is_block = is_at(lexer, "{%");
    const struct token begin = {.kind = is_block ? TOKEN_BLOCK_BEGIN : TOKEN_VARIABLE_BEGIN,
                                .line = lexer->line};
    struct token end = {.kind = is_block ? TOKEN_BLOCK_END : TOKEN_VARIABLE_END};
    TAPML_TRY(add_token(lexer, &begin));
    advance(lexer, 2);
    if (is_at(lexer, "-") || is_at(lexer, "+")) {
        advance(lexer, 1);
    }
    lexer->bracket_count = 0;
    for (;;) {
        skip_space(lexer);
        if (lexer->at == lexer->length) {
            lexer->line = begin.line;
            return failed(lexer, is_block ? "'{%' does not end" : "'{{' does not end");
        }
        end.line = lexer->line;
        if (lexer->bracket_count == 0 && end_tag(lexer, is_block)) {
            return add_token(lexer, &end);
        }
        TAPML_TRY(read_in_tag(lexer));
    }
}

static tapml_status read_all(struct lexer *lexer)
{
    while (lexer->at < lexer->length) {
        const size_t length = find_tag(lexer);
        const size_t left = strip_before(lexer, length);
        if (left > 0) {
            TAPML_TRY(add_bytes(lexer, TOKEN_DATA, lexer->source + lexer->at, left));
        }
        advance(lexer, length);
        if (lexer->at == lexer->length) {
            break;
        }
        TAPML_TRY(is_at(lexer, "{#") ? skip_comment(lexer) : read_tag(lexer));
    }
    return add_token(lexer, &(struct token){.kind = TOKEN_END, .line = lexer->line});
}

// \r\n and \r become \n, and one at the end goes.
static size_t normalise(char *out, const char *source, size_t length)
{
    size_t count = 0;
    for (size_t i = 0; i < length; ++i) {
        if (source[i] == '\r') {
            i += i + 1 < length && source[i + 1] == '\n';
            out[count++] = '\n';
        } else {
            out[count++] = source[i];
        }
    }
    return count > 0 && out[count - 1] == '\n' ? count - 1 : count;
}

tapml_status lexer_read(struct budget *budget,
                        const char *name,
                        const char *source,
                        size_t length,
                        struct tokens *out_tokens)
{
    void *copy = NULL;
    struct lexer lexer = {.budget = budget, .name = name, .line = 1, .begins_line = 1};
    if (!utf8_is_valid(source, length) || memchr(source, '\0', length)) {
        return status_fail(TAPML_INVALID, "%s: expected a text of UTF-8 without zero bytes", name);
    }
    TAPML_TRY(budget_array(budget, length + 1, 1, &copy));
    lexer.length = normalise(copy, source, length);
    ((char *)copy)[lexer.length] = '\0';
    lexer.source = copy;
    TAPML_TRY(read_all(&lexer));
    *out_tokens = lexer.tokens;
    return TAPML_OK;
}
