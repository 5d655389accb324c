// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// JSON files, over jansson.
#pragma once

#include "base/status.h"
#include "base/text.h"

#include <jansson.h>
#include <stddef.h>

// Reads a file of at most 256 MiB and 8 million values. The caller owns the result (json_decref).
//
// jansson has no infinite reals and no NaN, so bare Infinity, -Infinity and NaN become
// {"__float__": "Infinity"} and so on, as newer files write them. Integers that do not fit into 64
// bits become reals. An object with a repeated key is refused. Errors name the file, the line and
// what was expected.
tapml_status json_file_load(const char *path, json_t **out_root) STATUS_USED;

// As json_file_load, for the file `name` of a folder; `*out_root` is NULL if there is none.
tapml_status json_file_find(const char *folder, const char *name, json_t **out_root) STATUS_USED;

// As json_file_load, for a text of `size` bytes; messages use `name` for the file.
tapml_status
json_file_parse(const char *name, const char *text, size_t size, json_t **out_root) STATUS_USED;

// As json_file_parse, but strings may have zero bytes.
tapml_status json_file_parse_bytes(const char *name,
                                   const char *text,
                                   size_t size,
                                   json_t **out_root) STATUS_USED;

// Whether `value` is a number, plain or {"__float__": "Infinity"}; only then `*out_number` is
// written.
int json_file_number(const json_t *value, double *out_number);

// Appends the text of any value, with jansson's flags. Where there is no memory the text is marked.
void json_file_print(struct text *text, const json_t *value, size_t flags);

// Appends a value in single quotes, one line of at most a hundred bytes, for messages.
void json_file_append(struct text *text, const json_t *value);
