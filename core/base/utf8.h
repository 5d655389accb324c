// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Characters of UTF-8, read strictly, and texts made safe for a terminal.
#pragma once

#include <stddef.h>
#include <stdint.h>

// The result for a malformed sequence, in place of a character's code.
enum { UTF8_MALFORMED = 0x7fffffff };

// Reads the character at `bytes`, of which `size` bytes (at least 1) may be read, and returns its
// length in bytes. A malformed sequence gives UTF8_MALFORMED and the length of the bytes that one
// U+FFFD replaces (The Unicode Standard, section 3.9, "U+FFFD substitution of maximal subparts").
// [any]
size_t utf8_read(const void *bytes, size_t size, uint32_t *out_code);

// Whether all `size` bytes are well-formed UTF-8; so are zero bytes. [any]
int utf8_is_valid(const void *bytes, size_t size);

// Replaces each byte of a control character, except tabs and line ends, by '?', up to the zero
// byte: a text from outside must not control the terminal that shows it. [any]
void utf8_make_plain(char *text);
