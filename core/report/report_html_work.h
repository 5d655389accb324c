// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What was done to judge a target, on the page of the report (report/report_html_target.h).
#pragma once

#include "base/text.h"

#include <jansson.h>

// Prints the steps of the offload in their order, what was covered and what was not with its
// reasons, and a table of every instance.
void report_html_work_print(const json_t *report, const json_t *target, struct text *out);
