// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The answer of a query as a text: a table for people, CSV (RFC 4180, with a line of names), or
// JSON (an array with an object for each row).
//
// A value that is not there is empty, in JSON null. Numbers that JSON does not have are the strings
// "Infinity" and "-Infinity" there. A name that several columns have gets ":2" behind it in JSON.
#pragma once

#include "base/text.h"
#include "store/query.h"

enum query_form { QUERY_FORM_TABLE, QUERY_FORM_CSV, QUERY_FORM_JSON };

struct query_output {
    enum query_form form;
    uint64_t bytes_max;
    size_t rows;
    struct text body; // Rows in their form; of a table, cells that end with a zero byte each.
    size_t *widths;   // Of a table: the columns' so far, and whether all of it are numbers.
    unsigned char *has_text;
};

void query_output_init(struct query_output *output, enum query_form form, uint64_t bytes_max);
void query_output_release(struct query_output *output);

// Takes the row that the query has at hand. TAPML_NO_MEMORY, also above `bytes_max`.
tapml_status query_output_add(struct query_output *output, struct query *query) STATUS_USED;

// Appends the whole.
tapml_status query_output_print(const struct query_output *output,
                                const struct query *query,
                                struct text *out_text) STATUS_USED;
