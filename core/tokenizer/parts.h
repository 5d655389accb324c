// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What a tokenizer is made of, whichever file it was read from.
#pragma once

#include "base/status.h"
#include "base/text.h"
#include "tokenizer/added.h"
#include "tokenizer/decoder.h"
#include "tokenizer/normalizer.h"
#include "tokenizer/piece_encoder.h"
#include "tokenizer/prefixes.h"
#include "tokenizer/splitter.h"
#include "tokenizer/templates.h"
#include "tokenizer/vocabulary.h"

#include <stddef.h>
#include <stdint.h>

// How a token of the vocabulary is shown.
enum parts_kind { PARTS_PLAIN, PARTS_CONTROL, PARTS_UNKNOWN };

struct parts {
    char *name; // For messages.
    struct vocabulary *vocabulary;
    struct added *added;
    struct normalizer *normalizer;
    struct splitter *splitter;
    struct piece_encoder encoder;
    struct decoder *decoder;
    struct templates templates;
    struct prefixes *whole;          // Tokens that are cut out of a piece; or NULL.
    struct vocabulary_token *wholes; // Theirs.
    uint8_t *kinds;                  // By id; or NULL: all are PARTS_PLAIN.
    size_t kind_count;
    int32_t begin, end; // Of a text, by the file itself; -1: it does not say.
    int adds_begin;     // Unless another file says otherwise.
};

// Makes empty parts.
tapml_status parts_init(struct parts *parts, const char *name) STATUS_USED;

// Frees everything.
void parts_release(struct parts *parts);

// Gives the parts that no one has set yet: a normalizer and a splitter that change nothing, no
// added tokens.
tapml_status parts_complete(struct parts *parts) STATUS_USED;

// Adds the token of a line, `length` bytes without its end; `line` is its number, from 1 on.
// `bytes` is memory to use.
typedef tapml_status parts_line_fn(
    struct parts *parts, const char *text, size_t length, size_t line, struct text *bytes);

// Gives each line of a text that is not empty to `add_line`, up to the first failure.
tapml_status parts_add_lines(struct parts *parts,
                             const char *text,
                             size_t size,
                             parts_line_fn *add_line) STATUS_USED;
