// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Writes the report of a run to its files.
#pragma once

#include "base/status.h"

#include <jansson.h>

struct report_files {
    const char *dir;   // Of the run: report.html is written there.
    const char *json;  // Path, or NULL.
    const char *junit; // Path, or NULL.
};

// Each file is written whole or not at all.
tapml_status report_files_write(const json_t *report, const struct report_files *files) STATUS_USED;
