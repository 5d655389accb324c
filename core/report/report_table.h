// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The targets of a run side by side, as a table on the standard output.
#pragma once

#include "base/status.h"

#include <jansson.h>

// Prints a column for each target of the report's document (report/report_data.h), those that were
// given up behind the others, and a row for each operator: its most telling state, its worst
// margin. Fewer than two targets need no table. Below it is why some were given up.
tapml_status report_table_print(const json_t *report) STATUS_USED;
