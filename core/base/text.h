// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Growing texts, and functions on texts.
//
// A `struct text` always ends with a zero byte. An append never fails at once: if memory is
// exhausted, the text is marked as failed, later appends do nothing, and `text_status` returns the
// error. A text belongs to one thread at a time.
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

// Makes an empty text, without an allocation.
void text_init(struct text *text);

// Frees the memory. A text that was never appended to is allowed.
void text_release(struct text *text);

// Makes the text empty and keeps its memory. It stays failed if it was.
void text_clear(struct text *text);

// Appends a text, which ends with a zero byte.
void text_append(struct text *text, const char *piece);

// Appends `count` bytes.
void text_append_bytes(struct text *text, const void *bytes, size_t count);

// Appends a text, formatted as by printf.
void text_format(struct text *text, const char *format, ...) STATUS_PRINTF(2, 3);

// As text_format, for at most SENTENCE_BYTES in which each text is shortened (base/sentence.h):
// what a stranger wrote stays a part of a line.
void text_sentence(struct text *text, const char *format, ...) STATUS_PRINTF(2, 3);

// Appends `piece` as a JSON string with its quotes. Bytes that are not UTF-8 become U+FFFD.
void text_append_json(struct text *text, const char *piece);

// As text_append_json, for `count` bytes.
void text_append_json_bytes(struct text *text, const char *bytes, size_t count);

// Appends `word` as one word of a shell, quoted where it needs to be.
void text_append_shell(struct text *text, const char *word);

// Appends `words` in lines of at most `columns` and ends the last. The first begins where the text
// stands, as if `indent` bytes were before it, each other behind `indent` blanks; a line break in
// `words` stays one. Only a longer word stands in a longer line.
void text_wrap(struct text *text, const char *words, size_t indent, size_t columns);

// Whether `text` ends with `end` and has something before it.
int text_ends_with(const char *text, const char *end);

// Returns TAPML_NO_MEMORY if an append has failed, else TAPML_OK.
tapml_status text_status(const struct text *text) STATUS_USED;

// Hands over the bytes, with a zero byte behind them, which the caller frees by alloc_free; the
// text becomes empty. If an append has failed, the text is released and `*out_bytes` is not
// written.
tapml_status text_take(struct text *text, char **out_bytes, size_t *out_length) STATUS_USED;

// Copies the text into `arena` and releases it. NULL if an append has failed, or memory is
// exhausted.
struct arena;
const char *text_keep(struct text *text, struct arena *arena);

// Prints the text to stdout, unless an append has failed, and releases it. The status is that of
// the text: a failed write to stdout is not reported here.
tapml_status text_print(struct text *text) STATUS_USED;

// Whether `subject` matches the glob `pattern`: `*` any sequence (slashes too), `?` one character,
// [a-c] a set. The time is at most proportional to the product of both lengths. [any]
int text_glob(const char *pattern, const char *subject);

// Below, at or above 0 as the version in `a` is before, the same as or behind that in `b`: the
// first numbers of each, with dots between; where one has fewer of them, the rest are 0. A text
// without any is before all others. [any]
int text_compare_versions(const char *a, const char *b);

// Returns the word of `words` (ended by NULL) with the smallest edit distance to `word`, or NULL if
// no distance is within a third of its length, at least 1. For messages such as
// "unknown key 'promts', did you mean 'prompts'?". [any]
const char *text_nearest(const char *word, const char *const *words);

// Parses all of `word` as a decimal whole number. TAPML_INVALID if anything precedes or follows it,
// or the value does not fit. [any]
tapml_status text_parse_i64(const char *word, int64_t *out_value) STATUS_USED;

// As text_parse_i64, for a decimal real number. [any]
tapml_status text_parse_f64(const char *word, double *out_value) STATUS_USED;

// As text_parse_f64, for the first `size` bytes of a text. [any]
tapml_status text_parse_f64_part(const char *text, size_t size, double *out_value) STATUS_USED;
