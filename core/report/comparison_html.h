// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What two runs differ in, as one page in the manner of the report's (report/report_html.h).
#pragma once

#include "base/text.h"

#include <jansson.h>

void comparison_html_print(const json_t *comparison, struct text *out);
