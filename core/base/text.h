// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Growing texts, and small questions about texts.
//
// A `struct text` is always ended by a zero byte. Appending never fails at once: where memory runs
// out the text is marked, later appends do nothing, and `text_status` says so.
#pragma once

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

struct text {
    char *data; // "" until something is appended; ended by a zero byte.
    size_t length;
    size_t capacity;
    int failed;
};

void text_init(struct text *text);
void text_release(struct text *text);
void text_clear(struct text *text);

void text_append(struct text *text, const char *piece);
void text_append_bytes(struct text *text, const void *bytes, size_t count);
void text_format(struct text *text, const char *format, ...) STATUS_PRINTF(2, 3);

// Appends `piece` as a JSON string with its quotes. Bytes that are no UTF-8 become U+FFFD.
void text_append_json(struct text *text, const char *piece);

// TAPML_NO_MEMORY where an append failed.
tapml_status text_status(const struct text *text) STATUS_USED;

// Prints the text to stdout, unless an append failed, and releases it. Its status is that of the
// text: what becomes of stdout is for its reader to see.
tapml_status text_print(struct text *text) STATUS_USED;

// Whether `subject` matches the glob `pattern`: `*` any run (also of slashes), `?` one character,
// [a-c] a set. Bounded time.
int text_glob(const char *pattern, const char *subject);

// The word of `words` (ended by NULL) that is nearest to `word` in edits, or NULL where none is
// within a third of its length, at least 1: "unknown key 'promts', did you mean 'prompts'?".
const char *text_nearest(const char *word, const char *const *words);

// Parses the whole of `word` as a decimal number, or fails. Nothing may follow or precede it.
tapml_status text_parse_i64(const char *word, int64_t *out_value) STATUS_USED;
tapml_status text_parse_f64(const char *word, double *out_value) STATUS_USED;
