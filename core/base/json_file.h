// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// JSON files, over jansson.
#pragma once

#include "base/status.h"

#include <jansson.h>
#include <stddef.h>

// Reads a file of at most 256 MiB. jansson holds no reals beyond the numbers, so that bare
// Infinity, -Infinity and NaN become {"__float__": "Infinity"} and so on, as newer files write
// them; integers that do not fit into 64 bits become reals. A key that stands twice in an object is
// refused. The caller owns the result (json_decref). Errors name the file, the line and what was
// expected.
tapml_status json_file_load(const char *path, json_t **out_root) STATUS_USED;

// The same for a text; `name` stands for it in messages.
tapml_status
json_file_parse(const char *name, const char *text, size_t size, json_t **out_root) STATUS_USED;

// Whether `value` is a number, plain or {"__float__": "Infinity"}; then it is written.
int json_file_number(const json_t *value, double *out_number);
