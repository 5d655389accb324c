// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Sentences that quote what strangers wrote: a name or a value of any length takes a bounded part
// of a message, so that what stands behind it (the expected value) is still read.
#pragma once

#include <stdarg.h>
#include <stddef.h>

enum {
    SENTENCE_BYTES = 4096, // Of a whole one; a longer one is cut.
    SENTENCE_QUOTED_BYTES =
        1536 // Of each text in it, with its zero byte: lists of what is known fit.
};

// `text` itself where it fits into `room_bytes` (at least 8), with its zero byte. Else its begin,
// up to a whole character, and "..." behind it, in `room`. Reads no more of `text` than fits. [any]
const char *sentence_shorten(const char *text, char *room, size_t room_bytes);

// Formats as vsnprintf does, into `out_sentence`, which has `size` bytes: each text of a "%s" is
// shortened to SENTENCE_QUOTED_BYTES, unless the format gives it a precision, or is "%s" alone: a
// sentence that is said again. "%n" and wide
// characters are not known. [any]
void sentence_format(char *out_sentence, size_t size, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));

// Prints at most SENTENCE_BYTES of the same to the standard output. [any]
void sentence_print(const char *format, ...) __attribute__((format(printf, 1, 2)));
