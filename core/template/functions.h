// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The functions that every template has: range, namespace, dict, raise_exception, strftime_now.
#pragma once

#include "template/arguments.h"

// The name of a function that is known, which lives forever, or NULL. [any]
const char *functions_find(const char *name);

// Calls a function that is known. `now` is the time, in seconds since 1970, that strftime_now
// writes as local time. TAPML_INVALID with the template's own sentence for raise_exception.
tapml_status functions_call(struct budget *budget,
                            const char *name,
                            const struct arguments *arguments,
                            int64_t now,
                            struct datum *out_value) STATUS_USED;
