// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Regular expressions of tokenizer files, which are written for Oniguruma, in the words of PCRE2.
#pragma once

#include "base/status.h"
#include "base/text.h"

// White space and the characters of a word, to stand in a class, as Oniguruma has them; PCRE2's own
// \s has U+180E besides, and its \w has no marks.
#define EXPRESSION_SPACE                                                                           \
    "\\x{9}-\\x{d}\\x{20}\\x{85}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}"    \
    "\\x{205f}\\x{3000}"
#define EXPRESSION_WORD "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\x{200c}\\x{200d}"

// Appends `expression` as PCRE2 has it: nested sets become one set, \s, \w, \h, \u and \v are
// written out. TAPML_INVALID names what has no such form: recursion, verbs, intersections of sets.
tapml_status expression_translate(const char *expression, struct text *out) STATUS_USED;
