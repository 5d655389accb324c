// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Characters of UTF-8, read strictly, and texts made safe for a terminal.
#pragma once

#include <stddef.h>
#include <stdint.h>

// What a malformed sequence gives in place of a character's code.
enum { UTF8_MALFORMED = 0x7fffffff };

// Reads the character at `bytes`, of which `size` bytes (at least 1) may be read, and returns its
// length in bytes. A malformed sequence gives UTF8_MALFORMED and the length of what one U+FFFD
// stands for (The Unicode Standard, section 3.9, "U+FFFD substitution of maximal subparts").
size_t utf8_read(const void *bytes, size_t size, uint32_t *out_code);

// Whether all `size` bytes are well-formed UTF-8. No bytes are.
int utf8_is_valid(const void *bytes, size_t size);

// Puts '?' in place of each byte of a control character but tabs and ends of lines, up to the zero
// byte: a text from outside must not command the terminal on which it is shown.
void utf8_make_plain(char *text);
