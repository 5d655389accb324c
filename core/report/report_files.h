// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Writes the report of a run to its files, and other documents likewise. Each file is written whole
// or not at all.
#pragma once

#include "base/status.h"
#include "base/text.h"

#include <jansson.h>

struct report_files {
    const char *dir;   // Of the run: report.html is written there.
    const char *json;  // Path, or NULL.
    const char *junit; // Path, or NULL.
};

// Whether the standard output and up to two files (NULL: none) can be written, which is to be known
// before the work whose results they get. Nothing is left behind.
tapml_status report_files_try(const char *first, const char *second) STATUS_USED;

// Prints a document as a file shows it.
typedef void (*report_files_print_fn)(const json_t *document, struct text *out);

// Writes a document to the file `path` as `print` prints it, and as JSON.
tapml_status report_files_write_as(const json_t *document,
                                   report_files_print_fn print,
                                   const char *path) STATUS_USED;
tapml_status report_files_write_json(const json_t *document, const char *path) STATUS_USED;

tapml_status report_files_write(const json_t *report, const struct report_files *files) STATUS_USED;
