// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The filters of templates: `X | trim`, `X | tojson(indent=4)`.
#pragma once

#include "template/arguments.h"

// Whether there is a filter of that name. [any]
int filters_know(const char *name);

// Applies a filter that is known to the first argument. TAPML_INVALID names an argument that the
// filter does not take.
tapml_status filters_apply(struct budget *budget,
                           const char *name,
                           const struct arguments *arguments,
                           struct datum *out_value) STATUS_USED;
