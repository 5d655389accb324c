// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The report as one page: no network, no file beside it, readable without scripts, on a phone, in
// the dark and on paper.
#pragma once

#include "base/text.h"

#include <jansson.h>

// The beginning of a page of TapML with its head, up to and with <main>; and its end.
void report_html_begin(const char *title, struct text *out);

// The same of a page that loads itself again after so many seconds.
void report_html_begin_reloading(const char *title, int64_t seconds, struct text *out);
void report_html_end(struct text *out);

// Prints the page of a report's document (report/report_data.h).
void report_html_print(const json_t *report, struct text *out);

// What report.css and report.js hold, and the policy that allows these two and nothing else: made
// by embed.py. Ended by a zero byte.
extern const char report_html_style[];
extern const char report_html_script[];
extern const char report_html_policy[];
