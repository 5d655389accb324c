// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Lists of whole numbers as texts of a store: "[5,128]", which is also JSON.
//
// Any thread. What is parsed is freed with `alloc_free`; TAPML_INVALID names a text that is no
// list of such numbers.
#pragma once

#include "base/status.h"
#include "base/text.h"

// Appends the numbers to `out_text`, whose status reports a failure.
void list_print(struct text *out_text, const int64_t *values, size_t count);
void list_print_i32(struct text *out_text, const int32_t *values, size_t count);

// Reads a list of at most `count_max` numbers. TAPML_INVALID where the text is no such list.
tapml_status
list_parse(const char *text, int64_t *out_values, size_t count_max, size_t *out_count) STATUS_USED;

// Reads a list of any length. Freed by alloc_free.
tapml_status list_parse_i32(const char *text, int32_t **out_values, size_t *out_count) STATUS_USED;
