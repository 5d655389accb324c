// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "tokenizer/expression.h"

#include "tokenizer/expression_class.h"
#include "tokenizer/expression_set.h"

#include <ctype.h>
#include <string.h>

enum { GROUP_DEPTH_MAX = 64, CODE_DIGITS = 4 };

struct translation {
    const char *whole;
    const char *at;
    struct text *out;
    size_t part; // Where the part that a quantifier would mean begins in `out`.
    size_t groups[GROUP_DEPTH_MAX];
    size_t depth; // Of the groups that are open; those beyond the array are not known.
};

static tapml_status unsupported(const struct translation *translation, const char *what)
{
    return status_fail(TAPML_INVALID, "the expression '%.200s': %s is unsupported at %zu",
                       translation->whole, what, (size_t)(translation->at - translation->whole));
}

// -- Escapes -----------------------------------------------------------------------------------

// \uHHHH
static tapml_status copy_code(struct translation *translation)
{
    const char *digits = translation->at + 2;
    for (size_t i = 0; i < CODE_DIGITS; ++i) {
        if (!isxdigit((unsigned char)digits[i])) {
            return unsupported(translation, "'\\u' without four digits");
        }
    }
    text_format(translation->out, "\\x{%.4s}", digits);
    translation->at = digits + CODE_DIGITS;
    return TAPML_OK;
}

// A class as a set of its own, or as a property where it is one.
static void append_class(struct text *out, const struct text *members, int is_negated)
{
    const char *end = strchr(members->data, '}');
    const int is_property =
        strncmp(members->data, "\\p{", 3) == 0 && end && end + 1 == members->data + members->length;
    if (is_property) {
        text_append(out, is_negated ? "\\P" : "\\p");
        text_append(out, members->data + 2);
    } else {
        text_append(out, is_negated ? "[^" : "[");
        text_append_bytes(out, members->data, members->length);
        text_append(out, "]");
    }
    out->failed |= members->failed;
}

// \x41 and \x{41}, of which the braces are no interval.
static void copy_number(struct translation *translation)
{
    const char *end = translation->at[2] == '{' ? strchr(translation->at, '}') : NULL;
    const char *next = end ? end + 1 : translation->at + 2;
    text_append_bytes(translation->out, translation->at, (size_t)(next - translation->at));
    translation->at = next;
}

// \p{...} and \P{...}; \pL is copied as two characters.
static void copy_property(struct translation *translation)
{
    const char *end = translation->at[2] == '{' ? strchr(translation->at, '}') : NULL;
    if (!end) {
        text_append_bytes(translation->out, translation->at, 2);
        translation->at += 2;
        return;
    }
    struct text members;
    int is_negated = 0;
    const char *name = translation->at + 3;
    text_init(&members);
    expression_class_name(name, (size_t)(end - name), 0, &members, &is_negated);
    append_class(translation->out, &members, is_negated != (translation->at[1] == 'P'));
    text_release(&members);
    translation->at = end + 1;
}

// \s, \w, \d, \h and what denies them. Returns 0 if it is none of these.
static int copy_class(struct translation *translation)
{
    struct text members;
    int is_negated = 0;
    text_init(&members);
    const int is_class = expression_class_letter(translation->at[1], &members, &is_negated);
    if (is_class) {
        append_class(translation->out, &members, is_negated);
        translation->at += 2;
    }
    text_release(&members);
    return is_class;
}

// A word begins or ends here, or does not. PCRE2's own \b has other words.
static void append_boundary(struct text *out, int is_negated)
{
    static const char word[] = "[" EXPRESSION_WORD "]";
    text_format(out, "(?:(?<=%s)(?%s%s)|(?<!%s)(?%s%s))", word, is_negated ? "=" : "!", word, word,
                is_negated ? "!" : "=", word);
}

static tapml_status copy_escape(struct translation *translation)
{
    struct text *out = translation->out;
    const char letter = translation->at[1];
    if (letter == 'u') {
        return copy_code(translation);
    }
    if (letter == 'x') {
        copy_number(translation);
        return TAPML_OK;
    }
    if (letter == 'p' || letter == 'P') {
        copy_property(translation);
        return TAPML_OK;
    }
    if (copy_class(translation)) {
        return TAPML_OK;
    }
    if (letter == '\0') {
        return unsupported(translation, "a backslash at the end");
    }
    if (isalpha((unsigned char)letter) && !strchr("rntfaevbBAzZGR", letter)) {
        return unsupported(translation, "this escape");
    }
    if (letter == 'v') {
        text_append(out, "\\x{b}");
    } else if (letter == 'b' || letter == 'B') {
        append_boundary(out, letter == 'B');
    } else {
        text_append_bytes(out, translation->at, 2);
    }
    translation->at += 2;
    return TAPML_OK;
}

// -- Groups and quantifiers --------------------------------------------------------------------

// What begins with "(?": flags, where Oniguruma's m is PCRE2's s, groups and looks around.
static tapml_status copy_group(struct translation *translation)
{
    const char *at = translation->at + 2;
    const size_t flags = strspn(at, "imx-");
    if (flags > 0 && at[flags] != ':' && at[flags] != ')') {
        return unsupported(translation, "this group");
    }
    if (flags == 0 && (*at == '\0' || !strchr(":=!<>#", *at))) {
        return unsupported(translation, "this group");
    }
    text_append(translation->out, "(?");
    for (size_t i = 0; i < flags; ++i) {
        text_append_bytes(translation->out, at[i] == 'm' ? "s" : &at[i], 1);
    }
    translation->at = at + flags;
    return TAPML_OK;
}

static tapml_status copy_opening(struct translation *translation)
{
    const char *at = translation->at;
    if (translation->depth < GROUP_DEPTH_MAX) {
        translation->groups[translation->depth] = translation->out->length;
    }
    ++translation->depth;
    if (at[1] == '*') {
        return unsupported(translation, "a verb");
    }
    if (at[1] == '?') {
        return copy_group(translation);
    }
    text_append(translation->out, "(");
    ++translation->at;
    return TAPML_OK;
}

static tapml_status copy_closing(struct translation *translation)
{
    translation->depth -= translation->depth > 0 ? 1 : 0;
    if (translation->depth >= GROUP_DEPTH_MAX) {
        return unsupported(translation, "a group nested so deeply");
    }
    translation->part = translation->groups[translation->depth];
    text_append(translation->out, ")");
    ++translation->at;
    return TAPML_OK;
}

// Puts the part of the expression that was written last between brackets.
static tapml_status wrap_part(struct translation *translation)
{
    struct text *out = translation->out;
    struct text part;
    text_init(&part);
    text_append(&part, out->data + translation->part);
    tapml_status status = text_status(out);
    if (status == TAPML_OK) {
        status = text_status(&part);
    }
    if (status == TAPML_OK) {
        out->length = translation->part;
        text_format(out, "(?:%s)", part.data);
        status = text_status(out);
    }
    text_release(&part);
    return status;
}

// How long "{n}", "{n,}", "{,m}" or "{n,m}" is; 0: it is none.
static size_t interval_length(const char *at)
{
    const size_t least = strspn(at + 1, "0123456789");
    const char *rest = at + 1 + least;
    const size_t most = *rest == ',' ? strspn(rest + 1, "0123456789") : 0;
    const char *end = *rest == ',' ? rest + 1 + most : rest;
    return *end == '}' && least + most > 0 ? (size_t)(end + 1 - at) : 0;
}

// "{n,m}", where a "+" behind it repeats it, and one "?" behind "{n}" makes it optional.
static tapml_status copy_interval(struct translation *translation, size_t length)
{
    const char *at = translation->at;
    const int is_fixed = !memchr(at, ',', length);
    text_append(translation->out, at[1] == ',' ? "{0" : "{"); // {,n}
    text_append_bytes(translation->out, at + 1, length - 1);
    translation->at += length;
    return *translation->at == '+' || (is_fixed && *translation->at == '?') ? wrap_part(translation)
                                                                            : TAPML_OK;
}

static tapml_status copy_one(struct translation *translation)
{
    const char *at = translation->at;
    const size_t interval = *at == '{' ? interval_length(at) : 0;
    if (interval > 0) {
        return copy_interval(translation, interval);
    }
    if (*at == '(') {
        return copy_opening(translation);
    }
    if (*at == ')') {
        return copy_closing(translation);
    }
    // The bytes of one character are one part.
    const int goes_on = ((unsigned char)*at & 0xc0) == 0x80;
    if (!strchr("*+?", *at) && !goes_on) {
        translation->part = translation->out->length;
    }
    if (*at == '\\') {
        return copy_escape(translation);
    }
    if (*at == '[') {
        return expression_set_translate(translation->whole, &translation->at, translation->out);
    }
    text_append_bytes(translation->out, at, 1);
    ++translation->at;
    return TAPML_OK;
}

tapml_status expression_translate(const char *expression, struct text *out)
{
    struct translation translation = {.whole = expression, .at = expression, .out = out};
    while (*translation.at) {
        TAPML_TRY(copy_one(&translation));
    }
    return text_status(out);
}
