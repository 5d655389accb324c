// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What tests of the views of several runs begin with: the runs, what they say together, and a text
// for the view. For a suite with `.init = begin, .fini = end`.
#pragma once

#include "harness/changed.h"

static struct changed changed;
static json_t *comparison;
static struct text text;

static inline void begin(void)
{
    text_init(&text);
}

static inline void end(void)
{
    text_release(&text);
    json_decref(comparison);
    changed_end(&changed);
}

static inline void expect(const char *piece)
{
    cr_expect_not_null(strstr(text.data, piece), "'%s' is not in\n%s", piece, text.data);
}
