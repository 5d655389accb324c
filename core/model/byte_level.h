// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The alphabet of byte-level tokenizers: a printable character for each byte.
//
// Bytes 21-7E, A1-AC and AE-FF stand as the character of the same number; the other 68, in order,
// as U+0100, U+0101 and so on. So a space is U+0120.
#pragma once

#include "base/text.h"

#include <stddef.h>

// Appends the characters of `count` bytes.
void byte_level_write(struct text *out, const void *bytes, size_t count);

// Appends the bytes of a token. Where one of its characters stands for no byte, the token is
// appended as it is, and 0 is returned.
int byte_level_read(struct text *out, const char *token);
