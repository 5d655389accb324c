// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Markup from templates, with every value escaped: names of tensors, prompts and drivers are a
// stranger's texts. And the values of a report's document as people read them.
#pragma once

#include "base/text.h"

#include <jansson.h>

enum { REPORT_MARKUP_SHORT = 48 };

// Appends `template_` with each "{}" replaced by the next of `values` (ended by NULL), escaped for
// the content and the quoted attributes of HTML and XML. Characters that XML does not have become
// U+FFFD.
void report_markup_add(struct text *out, const char *template_, const char *const *values);

#define REPORT_MARKUP(out_, template_, ...)                                                        \
    report_markup_add((out_), (template_), (const char *const[]){__VA_ARGS__, NULL})

// Members of an object; "" and 0 where they are absent.
const char *report_markup_string(const json_t *object, const char *key);
int64_t report_markup_count(const json_t *object, const char *key);

// The number of a member, also where it is "Infinity" or "NaN"; NaN where it is absent or null.
double report_markup_number(const json_t *object, const char *key);

// Numbers as texts, as many as one template takes.
struct report_markup_shorts {
    char a[REPORT_MARKUP_SHORT], b[REPORT_MARKUP_SHORT], c[REPORT_MARKUP_SHORT];
    char d[REPORT_MARKUP_SHORT], e[REPORT_MARKUP_SHORT], f[REPORT_MARKUP_SHORT];
};

// What texts are made in: each holds REPORT_MARKUP_SHORT bytes and is returned.
const char *report_markup_thousands(int64_t value, char *out); // "1,098"
const char *report_markup_thousands_of(const json_t *object, const char *key, char *out);
const char *report_markup_time(int64_t time_ns, char *out);           // "1.31 s", "12 us"
const char *report_markup_margin(double margin, char *out);           // "=", "0.14", "1.3e5"
const char *report_markup_value(double value, int digits, char *out); // "0.1182", "NaN"
const char *report_markup_date(int64_t seconds, char *out); // "21 November 2026, 14:02 UTC"

// Appends a command for a shell in the folder of a run, which knows `file` there by its name alone,
// as one for the folder in which `dir` is that of the run. 0: it has no such file.
int report_markup_command(const char *command, const char *file, const char *dir, struct text *out);

// Whether item `index` of the blamed instances of a target is the one to show for its op: the first
// that fails in the model, or if all fail in derived cases alone the first.
int report_markup_is_first(const json_t *blamed, size_t index);
