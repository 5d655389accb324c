// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The tokens of a template, with the white space that tags take away already taken: trim_blocks,
// lstrip_blocks, the signs '-' and '+' in tags, and one line end at the end of the file.
#pragma once

#include "template/budget.h"

#include <stddef.h>
#include <stdint.h>

enum token_kind {
    TOKEN_END,
    TOKEN_DATA,           // Text outside of tags: `bytes`.
    TOKEN_BLOCK_BEGIN,    // {%
    TOKEN_BLOCK_END,      // %}
    TOKEN_VARIABLE_BEGIN, // {{
    TOKEN_VARIABLE_END,   // }}
    TOKEN_NAME,           // `bytes`
    TOKEN_TEXT,           // `bytes`, without quotes and escapes.
    TOKEN_INTEGER,        // `integer`
    TOKEN_REAL,           // `real`
    TOKEN_OPERATOR,       // `bytes`
};

struct token {
    enum token_kind kind;
    unsigned line;     // From 1.
    const char *bytes; // With a zero byte at the end; of all but ends and numbers.
    size_t length;
    int64_t integer;
    double real;
};

struct tokens {
    struct token *items; // The last one is TOKEN_END.
    size_t count;
};

// Reads a template of `length` bytes, which have to be UTF-8 without zero bytes. Messages begin
// with "NAME:LINE: ".
tapml_status lexer_read(struct budget *budget,
                        const char *name,
                        const char *source,
                        size_t length,
                        struct tokens *out_tokens) STATUS_USED;
