// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A variable of the environment that has another value for a while: for the processes that are
// started meanwhile.
//
// One thread: the environment changes.
#pragma once

#include "base/status.h"

struct kit_variable {
    const char *name; // NULL: nothing was set.
    char *before;     // Its value as it was, or NULL.
};

// Sets the variable `name`, a static text, to a copy of `value`. TAPML_NO_MEMORY, and nothing is
// set.
tapml_status kit_variable_set(struct kit_variable *out_variable,
                              const char *name,
                              const char *value) STATUS_USED;

// Gives it the value that it had, or takes it away again. One that was not set is allowed.
void kit_variable_restore(struct kit_variable *variable);
