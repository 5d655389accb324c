// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The classes of characters that Oniguruma names, as members of a set of PCRE2.
#pragma once

#include "base/status.h"
#include "base/text.h"

#include <stddef.h>

// White space and the characters of a word, to stand in a class, as Oniguruma has them; PCRE2's own
// \s has U+180E besides, and its \w has no marks.
#define EXPRESSION_SPACE                                                                           \
    "\\x{9}-\\x{d}\\x{20}\\x{85}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}"    \
    "\\x{205f}\\x{3000}"
#define EXPRESSION_NAMED_WORD "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}" // Of [:word:]
#define EXPRESSION_WORD       EXPRESSION_NAMED_WORD "\\x{b2}\\x{b3}\\x{b9}\\x{bc}-\\x{be}"

// \w as Rust's regular expressions have it (Unicode Technical Standard 18, annex C).
#define EXPRESSION_RUST_WORD EXPRESSION_NAMED_WORD "\\x{200c}\\x{200d}"

// Appends the members of \s, \w, \d or \h, or of the class that the capital letter denies. Returns
// 0 if `letter` names no class.
int expression_class_letter(char letter, struct text *out_members, int *out_is_negated);

// Appends the members of \p{NAME} or [:NAME:], of which `length` bytes are the name, with the "^"
// that may begin it. A general category, a class of POSIX, or what PCRE2 knows: a script is that of
// `Script`, not of `Script_Extensions` as PCRE2 has it.
void expression_class_name(
    const char *name, size_t length, int is_posix, struct text *out_members, int *out_is_negated);
