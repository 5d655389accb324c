// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What several runs say together, as Markdown for the page that a forge shows of a job. Texts of
// strangers are escaped: they make neither markup nor links, and call nobody.
#pragma once

#include "base/text.h"

#include <jansson.h>

// Appends the member `changes` of a comparison (report/changes.h). Tables have at most 50 rows.
void changes_markdown_print(const json_t *comparison, struct text *out);
