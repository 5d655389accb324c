// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The tests of templates: `X is defined`, `X is divisibleby(3)`.
#pragma once

#include "template/arguments.h"

// Whether there is a test of that name. [any]
int conditions_know(const char *name);

// Applies a test that is known to the first argument. TAPML_INVALID names an argument that the test
// does not take.
tapml_status conditions_apply(struct budget *budget,
                              const char *name,
                              const struct arguments *arguments,
                              int *out_truth) STATUS_USED;
