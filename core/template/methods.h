// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The methods of texts, maps and lists that templates may call: `X.strip()`, `X.items()`.
#pragma once

#include "template/arguments.h"

// Whether a value of this kind has a method of that name, in Python; not all of them are supported.
// [any]
int methods_know(const struct datum *object, const char *name);

// Calls a method. TAPML_INVALID names one that is unknown or that would change the value.
tapml_status methods_call(struct budget *budget,
                          const struct datum *object,
                          const char *name,
                          const struct arguments *arguments,
                          struct datum *out_value) STATUS_USED;
