// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// One target on the page of the report (report/report_html): its verdict, what is accused with the
// first bad values, the plan, times, steps, coverage.
#pragma once

#include "base/text.h"

#include <jansson.h>
#include <stddef.h>

// Prints target number `index` of the report as a section with the anchor "target-N", counted from
// 1. Its headline is that of the page where there is no other target.
void report_html_target_print(const json_t *report, size_t index, struct text *out);

// Its verdict in a sentence.
void report_html_target_print_headline(const json_t *target, struct text *out);

// Says which observers of plugins saw the calls of the source or of a target; nothing without any.
void report_html_target_observers(const json_t *place, struct text *out);
