// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A report and a text for a part of its page, for each test of a suite:
// TestSuite(report_html_work, .init = report_part_begin, .fini = report_part_end);
#pragma once

#include "base/text.h"
#include "harness/report.h"

#include <string.h>

static struct text part;
static json_t *report;

static inline void report_part_begin(void)
{
    text_init(&part);
    report = report_make();
}

static inline void report_part_end(void)
{
    text_release(&part);
    json_decref(report);
}

static inline void report_part_has(const char *piece)
{
    cr_expect_not_null(strstr(part.data, piece), "'%s' is not in the part", piece);
}
