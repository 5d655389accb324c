// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Several targets side by side on the page: a row for each op, a column for each target.
#pragma once

#include "base/text.h"

#include <jansson.h>

// Appends the table of a report, or nothing where it has one target.
void report_html_sides_print(const json_t *report, struct text *out);
