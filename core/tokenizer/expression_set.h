// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Sets of characters in expressions for Oniguruma, which may be nested and cut with one another, in
// the words of PCRE2, whose sets may not.
#pragma once

#include "base/status.h"
#include "base/text.h"

// Appends the set whose "[" is at `*at`, and moves `*at` behind it. What is no plain set becomes a
// group that matches one character. Messages name the place in `whole`, of which `*at` is a part.
tapml_status
expression_set_translate(const char *whole, const char **at, struct text *out) STATUS_USED;
