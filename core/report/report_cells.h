// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Cells that any list of a report can have (report/report_list.h), from member `key` of an item: on
// the page a whole <td>, in the text words, made in `out` of REPORT_MARKUP_SHORT bytes.
//
// Any thread.
#pragma once

#include "base/text.h"

#include <jansson.h>

void report_cells_text(const json_t *item, const char *key, struct text *out);
void report_cells_code(const json_t *item, const char *key, struct text *out);
void report_cells_op(const json_t *item, const char *key, struct text *out);      // Its short name,
void report_cells_op_code(const json_t *item, const char *key, struct text *out); // as code.

// Numbers, sorted as such: a count, three digits of a number, a margin, a time in nanoseconds.
void report_cells_count(const json_t *item, const char *key, struct text *out);
void report_cells_number(const json_t *item, const char *key, struct text *out);
void report_cells_margin(const json_t *item, const char *key, struct text *out);
void report_cells_time(const json_t *item, const char *key, struct text *out);

// What a table is sorted by where a text stands for a number.
const char *report_cells_sort_key(int64_t number, char *out);

const char *report_cells_word_text(const json_t *item, const char *key, char *out);
const char *report_cells_word_count(const json_t *item, const char *key, char *out);
const char *report_cells_word_number(const json_t *item, const char *key, char *out);
