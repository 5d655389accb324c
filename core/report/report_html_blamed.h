// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What is blamed on a target, on the page of the report (report/report_html_target.h).
#pragma once

#include "base/text.h"

#include <jansson.h>

// Prints a card for each op kind with its first blamed instance: the first wrong values, how to
// repeat it, the other instances. Then the derived cases that fail.
void report_html_blamed_print(const json_t *target, struct text *out);
