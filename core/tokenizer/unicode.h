// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What tokenizers ask about characters: classes, normal forms and lower case, by utf8proc. The
// texts are well-formed UTF-8. [any]
#pragma once

#include "base/status.h"
#include "base/text.h"

#include <stddef.h>
#include <stdint.h>

// White space as Unicode has it (property White_Space).
int unicode_is_space(uint32_t code);

// The general categories N, M, Mn and C without Cn, of the versions that tokenizers has
// (unicode_version.h).
int unicode_is_number(uint32_t code);
int unicode_is_mark(uint32_t code);
int unicode_is_nonspacing(uint32_t code);
int unicode_is_other(uint32_t code);

// The general category P, or one of ASCII's signs and punctuation.
int unicode_is_punctuation(uint32_t code);

// An ideograph of Chinese, as tokenizers of the BERT kind have them.
int unicode_is_ideograph(uint32_t code);

// Appends one character as UTF-8.
void unicode_append(struct text *out, uint32_t code);

// Reads the character at `at` and moves `at` behind it.
uint32_t unicode_next(const char *text, size_t length, size_t *at);

// Appends a text in lower case: of U+0130 that is two characters, as in SpecialCasing.txt.
void unicode_lower(struct text *out, const char *text, size_t length);

enum unicode_form { UNICODE_NFC, UNICODE_NFD, UNICODE_NFKC, UNICODE_NFKD };

// Appends a text in a normal form.
tapml_status unicode_normalize(struct text *out,
                               enum unicode_form form,
                               const char *text,
                               size_t length) STATUS_USED;

// Returns the length in bytes of the grapheme that begins `text`, which is not empty.
size_t unicode_grapheme(const char *text, size_t length);
