// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The tables of conf/gguf, which the build makes part of the program.
#pragma once

#include "base/status.h"

#include <jansson.h>
#include <stddef.h>

struct gguf_table {
    const char *name; // The file's without ".json".
    const char *text; // JSON, without a zero byte behind it.
    size_t size;
};

// Returns the number of tables.
size_t gguf_tables_count(void);

// Parses a table; they are in the order in which they are asked. The caller owns the result.
tapml_status gguf_tables_load(size_t index, json_t **out_root) STATUS_USED;

// Parses the table of a name. TAPML_INTERNAL if there is none.
tapml_status gguf_tables_load_named(const char *name, json_t **out_root) STATUS_USED;
