// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// One target in a report's document (report/report_data.h).
#pragma once

#include "report/report.h"

#include <jansson.h>

// All that is known of a target that is done. The caller owns the object.
tapml_status report_target_make(const struct report_target *target,
                                json_t **out_object) STATUS_USED;

// How much an instance's state, as it stands in the document, asks to be looked at: 0 is "wrong".
size_t report_target_rank(const char *state);
