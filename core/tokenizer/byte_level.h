// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The alphabet of byte-level tokenizers: a printable character for each byte.
//
// Bytes 21-7E, A1-AC and AE-FF are the characters with the same number; the other 68 are, in order,
// U+0100, U+0101 and so on. So a space is U+0120.
#pragma once

#include "base/text.h"

#include <stddef.h>

// Appends the characters of `count` bytes.
void byte_level_write(struct text *out, const void *bytes, size_t count);

// Appends the bytes of a token of `length` bytes. If one of its characters is not in the alphabet,
// appends the token unchanged and returns 0.
int byte_level_read(struct text *out, const char *token, size_t length);
