// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Characters of UTF-8 texts, counted and classed as Python does. All texts are well formed.
#pragma once

#include <stddef.h>
#include <stdint.h>

// Whether Python's str.isspace holds for a character. [any]
int characters_is_space(uint32_t code);

// The bytes of white space at the begin, or at the end, of a text. [any]
size_t characters_space_before(const char *text, size_t length);
size_t characters_space_behind(const char *text, size_t length);

// The number of characters. [any]
size_t characters_count(const char *text, size_t length);

// The byte at which character `index` begins; `length` where there are no more. [any]
size_t characters_offset(const char *text, size_t length, size_t index);

// Writes a character and returns its bytes, at most 4. A surrogate or a code above U+10FFFF becomes
// U+FFFD. [any]
size_t characters_write(uint32_t code, char out_bytes[4]);

// The first byte of `piece` in `text`, or `length` if it is not there. The empty piece is at 0.
// [any]
size_t characters_find(const char *text, size_t length, const char *piece, size_t piece_length);
