// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Regular expressions of tokenizer files, which are written for Oniguruma, in the words of PCRE2.
#pragma once

#include "base/status.h"
#include "base/text.h"

// Appends `expression` as PCRE2 has it: nested sets become one set or a group, \s, \w, \h, \b, \u,
// \v and named classes are written out. TAPML_INVALID names what has no such form: recursion,
// verbs.
tapml_status expression_translate(const char *expression, struct text *out) STATUS_USED;
