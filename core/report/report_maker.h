// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A JSON object under construction, for reports: what could not be made is remembered, and asked
// once at the end.
#pragma once

#include "base/status.h"

#include <jansson.h>
#include <stdint.h>

enum { REPORT_TEXT_BYTES = 4096, REPORT_LINES_BYTES = 16 << 20 };

struct report_maker {
    json_t *object;
    int failed;
};

struct report_maker report_maker_begin(void);

// TAPML_NO_MEMORY where a member could not be made.
tapml_status report_maker_finish(const struct report_maker *maker) STATUS_USED;

// A member with a value that is taken over; NULL marks the maker as failed.
void report_maker_put(struct report_maker *maker, const char *key, json_t *value);
void report_maker_text(struct report_maker *maker, const char *key, const char *value);

// As report_maker_text, for a text of lines, such as a plan, which is as long as the model is
// large: up to REPORT_LINES_BYTES.
void report_maker_lines(struct report_maker *maker, const char *key, const char *value);
void report_maker_count(struct report_maker *maker, const char *key, uint64_t value);

// Takes the object of `part` as a member, or at the end of `array`, which is of `maker`.
void report_maker_part(struct report_maker *maker,
                       const char *key,
                       const struct report_maker *part);
void report_maker_append(struct report_maker *maker,
                         json_t *array,
                         const struct report_maker *part);

// Values, or NULL where there is no memory. A text's bytes that are no UTF-8 become U+FFFD, and
// NULL is ""; a text beyond REPORT_TEXT_BYTES is shortened, since names and facts of a store may be
// a stranger's (base/sentence.h). A number that JSON does not have is a string: "NaN", "Infinity",
// "-Infinity"; a margin that is NaN is null.
json_t *report_maker_string(const char *value);
json_t *report_maker_number(double value);
json_t *report_maker_margin(double value);
