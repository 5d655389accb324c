// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "tokenizer/expression.h"

#include <ctype.h>
#include <string.h>

enum { SET_DEPTH_MAX = 16, CODE_DIGITS = 4 };

struct translation {
    const char *whole;
    const char *at;
    struct text *out;
};

static tapml_status unsupported(const struct translation *translation, const char *what)
{
    return status_fail(TAPML_INVALID, "the expression '%.200s': %s is unsupported at %zu",
                       translation->whole, what, (size_t)(translation->at - translation->whole));
}

// Appends a class by its members: within a set as they are.
static void append_class(struct text *out, const char *members, int is_in_set, int is_negated)
{
    text_append(out, is_in_set ? "" : is_negated ? "[^" : "[");
    text_append(out, members);
    text_append(out, is_in_set ? "" : "]");
}

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

// Copies \p{...} or \x{...}, braces and all; \pL and \x41 are copied as two characters.
static void copy_braced(struct translation *translation)
{
    const char *end = translation->at[2] == '{' ? strchr(translation->at, '}') : NULL;
    const char *next = end ? end + 1 : translation->at + 2;
    text_append_bytes(translation->out, translation->at, (size_t)(next - translation->at));
    translation->at = next;
}

static tapml_status copy_escape(struct translation *translation, int is_in_set)
{
    struct text *out = translation->out;
    const char letter = translation->at[1];
    if (letter == 'u') {
        return copy_code(translation);
    }
    if (letter == 'p' || letter == 'P' || letter == 'x') {
        copy_braced(translation);
        return TAPML_OK;
    }
    if (letter == 's' || (letter == 'S' && !is_in_set)) {
        append_class(out, EXPRESSION_SPACE, is_in_set, letter == 'S');
    } else if (letter == 'w' || (letter == 'W' && !is_in_set)) {
        append_class(out, EXPRESSION_WORD, is_in_set, letter == 'W');
    } else if (letter == 'h') {
        append_class(out, "0-9a-fA-F", is_in_set, 0);
    } else if (letter == 'v') {
        text_append(out, "\\x{b}");
    } else if (letter == '\0') {
        return unsupported(translation, "a backslash at the end");
    } else if (isalpha((unsigned char)letter) &&
               !strchr(is_in_set ? "dDSrntfaeb" : "dDrntfaebBAzZG", letter)) {
        return unsupported(translation, "this escape");
    } else {
        text_append_bytes(out, translation->at, 2);
    }
    translation->at += 2;
    return TAPML_OK;
}

// A name such as [:alpha:]. Returns 0 if there is none.
static int copy_named_class(struct translation *translation)
{
    const char *end = translation->at[1] == ':' ? strstr(translation->at, ":]") : NULL;
    if (!end) {
        return 0;
    }
    text_append_bytes(translation->out, translation->at, (size_t)(end + 2 - translation->at));
    translation->at = end + 2;
    return 1;
}

// One member of a set, or a bracket within it. A nested set is a union: its brackets are left out.
static tapml_status copy_member(struct translation *translation, size_t *depth)
{
    const char *at = translation->at;
    struct text *out = translation->out;
    if (*at == '\0') {
        return unsupported(translation, "a set without an end");
    }
    if (*at == '\\') {
        return copy_escape(translation, 1);
    }
    if (at[0] == '&' && at[1] == '&') {
        return unsupported(translation, "an intersection of sets");
    }
    if (*at == '[' && copy_named_class(translation)) {
        return TAPML_OK;
    }
    if (*at == '[' && (at[1] == '^' || *depth == SET_DEPTH_MAX)) {
        return unsupported(translation, "this nested set");
    }
    if (*at == '[') {
        ++*depth;
    } else if (*at == ']') {
        --*depth;
    } else if (*at == '-' && *depth > 1 && (at[-1] == '[' || at[1] == ']')) {
        text_append(out, "\\-"); // Not a range with what stands outside of the nested set.
    } else {
        text_append_bytes(out, at, 1);
    }
    ++translation->at;
    return TAPML_OK;
}

static tapml_status copy_set(struct translation *translation)
{
    const int is_negated = translation->at[1] == '^';
    size_t depth = 1;
    translation->at += is_negated ? 2 : 1;
    text_append(translation->out, is_negated ? "[^" : "[");
    if (*translation->at == ']') { // The first one is a member.
        text_append(translation->out, "\\]");
        ++translation->at;
    }
    while (depth > 0) {
        TAPML_TRY(copy_member(translation, &depth));
    }
    text_append(translation->out, "]");
    return TAPML_OK;
}

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

static tapml_status copy_one(struct translation *translation)
{
    const char *at = translation->at;
    if (*at == '\\') {
        return copy_escape(translation, 0);
    }
    if (*at == '[') {
        return copy_set(translation);
    }
    if (at[0] == '(' && at[1] == '*') {
        return unsupported(translation, "a verb");
    }
    if (at[0] == '(' && at[1] == '?') {
        return copy_group(translation);
    }
    if (at[0] == '}' && at[1] == '+') {
        return unsupported(translation, "'}+'"); // Not possessive in Oniguruma.
    }
    text_append_bytes(translation->out, at, 1);
    if (at[0] == '{' && at[1] == ',' && isdigit((unsigned char)at[2])) {
        text_append(translation->out, "0"); // {,n}
    }
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
