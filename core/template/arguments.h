// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The arguments of a call, and how they become the parameters of a function.
#pragma once

#include "template/datum.h"

enum { ARGUMENTS_MAX = 8 }; // Parameters of one function.

struct arguments_keyword {
    const char *name;
    struct datum value;
};

struct arguments {
    struct datum *items; // By position.
    size_t count;
    struct arguments_keyword *keywords;
    size_t keyword_count;
};

// Writes the values of the parameters `names` (ended by NULL, at most ARGUMENTS_MAX) in their
// order; what is not given is undefined. TAPML_INVALID, with the name of `function`, if there are
// too many arguments, or one of a name that is unknown or given twice.
tapml_status arguments_bind(const struct arguments *arguments,
                            const char *function,
                            const char *const *names,
                            struct datum *out_values) STATUS_USED;

// Reads an argument that has to be a text, or an integer; where it is absent or none, the fallback.
tapml_status arguments_text(const char *function,
                            const struct datum *value,
                            const char *fallback,
                            struct datum *out_text) STATUS_USED;
tapml_status arguments_integer(const char *function,
                               const struct datum *value,
                               int64_t fallback,
                               int64_t *out_integer) STATUS_USED;
