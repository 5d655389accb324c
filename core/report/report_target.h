// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// One target in a report's document (report/report_data.h).
#pragma once

#include "report/report_rows.h"

#include <jansson.h>

// All that is known of a target whose offload has ended. The caller owns the object.
tapml_status report_target_make(const struct report_rows *rows, json_t **out_object) STATUS_USED;
