// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "template/cursor.h"

#include <string.h>

static int is(const struct token *token, enum token_kind kind, const char *bytes)
{
    return token->kind == kind && strcmp(token->bytes, bytes) == 0;
}

int cursor_is(const struct cursor *cursor, const char *operator_)
{
    return is(cursor->at, TOKEN_OPERATOR, operator_);
}

int cursor_is_name(const struct cursor *cursor, const char *name)
{
    return is(cursor->at, TOKEN_NAME, name);
}

int cursor_next_is(const struct cursor *cursor, const char *operator_)
{
    return cursor->at->kind != TOKEN_END && is(cursor->at + 1, TOKEN_OPERATOR, operator_);
}

int cursor_next_is_name(const struct cursor *cursor, const char *name)
{
    return cursor->at->kind != TOKEN_END && is(cursor->at + 1, TOKEN_NAME, name);
}

int cursor_skip(struct cursor *cursor, const char *operator_)
{
    const int found = cursor_is(cursor, operator_);
    cursor->at += found;
    return found;
}

int cursor_skip_name(struct cursor *cursor, const char *name)
{
    const int found = cursor_is_name(cursor, name);
    cursor->at += found;
    return found;
}

static const char *spelling_of_token(const struct token *token)
{
    switch (token->kind) {
    case TOKEN_END:
        return "the end of the template";
    case TOKEN_DATA:
        return "text";
    case TOKEN_BLOCK_BEGIN:
        return "'{%'";
    case TOKEN_BLOCK_END:
        return "'%}'";
    case TOKEN_VARIABLE_BEGIN:
        return "'{{'";
    case TOKEN_VARIABLE_END:
        return "'}}'";
    case TOKEN_TEXT:
        return "a text in quotes";
    case TOKEN_INTEGER:
    case TOKEN_REAL:
        return "a number";
    case TOKEN_NAME:
    case TOKEN_OPERATOR:
        return NULL;
    }
    return NULL;
}

tapml_status cursor_fail(const struct cursor *cursor, const char *what)
{
    const struct token *token = cursor->at;
    const char *found = spelling_of_token(token);
    return found ? status_fail(TAPML_INVALID, "%s:%u: expected %s, found %s", cursor->name,
                               token->line, what, found)
                 : status_fail(TAPML_INVALID, "%s:%u: expected %s, found '%.100s'", cursor->name,
                               token->line, what, token->bytes);
}

tapml_status
cursor_unsupported(const struct cursor *cursor, unsigned line, const char *what, const char *word)
{
    return status_fail(TAPML_INVALID, "%s:%u: the %s '%.100s' is unsupported", cursor->name, line,
                       what, word);
}

tapml_status cursor_expect(struct cursor *cursor, const char *operator_)
{
    char what[8] = "' '";
    if (cursor_skip(cursor, operator_)) {
        return TAPML_OK;
    }
    what[1] = operator_[0]; // All that are expected have one character.
    return cursor_fail(cursor, what);
}

tapml_status cursor_expect_name(struct cursor *cursor, const char **out_name)
{
    if (cursor->at->kind != TOKEN_NAME) {
        return cursor_fail(cursor, "a name");
    }
    *out_name = cursor->at->bytes;
    ++cursor->at;
    return TAPML_OK;
}

tapml_status cursor_expect_kind(struct cursor *cursor, enum token_kind kind)
{
    const struct token expected = {.kind = kind};
    if (cursor->at->kind != kind) {
        return cursor_fail(cursor, spelling_of_token(&expected));
    }
    ++cursor->at;
    return TAPML_OK;
}

tapml_status cursor_explain(const struct cursor *cursor, unsigned line, tapml_status status)
{
    const size_t length = strlen(cursor->name);
    const char *message = status_message();
    const int has_name = strncmp(message, cursor->name, length) == 0 && message[length] == ':';
    return status == TAPML_OK || has_name ? status
                                          : status_explain(status, "%s:%u", cursor->name, line);
}
