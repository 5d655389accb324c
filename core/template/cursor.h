// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A place among the tokens of a template, with what both readers of syntax ask there.
#pragma once

#include "template/lexer.h"
#include "template/syntax.h"

struct cursor {
    struct budget *budget;
    const char *name; // Of the template, for messages.
    const struct token *at;
};

// Whether the token here, or the next one, is that operator or that name.
int cursor_is(const struct cursor *cursor, const char *operator_);
int cursor_is_name(const struct cursor *cursor, const char *name);
int cursor_next_is(const struct cursor *cursor, const char *operator_);
int cursor_next_is_name(const struct cursor *cursor, const char *name);

// Passes over the token here, if it is that one; returns whether it was.
int cursor_skip(struct cursor *cursor, const char *operator_);
int cursor_skip_name(struct cursor *cursor, const char *name);

// Passes over the token that has to be here.
tapml_status cursor_expect(struct cursor *cursor, const char *operator_) STATUS_USED;
tapml_status cursor_expect_name(struct cursor *cursor, const char **out_name) STATUS_USED;
tapml_status cursor_expect_kind(struct cursor *cursor, enum token_kind kind) STATUS_USED;

// TAPML_INVALID: "NAME:LINE: expected `what`, found ...".
tapml_status cursor_fail(const struct cursor *cursor, const char *what);

// TAPML_INVALID: "NAME:LINE: the `what` 'WORD' is unsupported".
tapml_status
cursor_unsupported(const struct cursor *cursor, unsigned line, const char *what, const char *word);

// Puts name and line before the message of a failure that has none yet.
tapml_status cursor_explain(const struct cursor *cursor, unsigned line, tapml_status status);
