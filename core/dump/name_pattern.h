// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Names with one unknown part, such as the number of a layer: "attn_norm-*". Where `*` stands
// several times it is the same part each time. Any thread.
#pragma once

#include <stddef.h>

struct arena;

enum { NAME_PATTERN_PART = 128 }; // The longest unknown part, with a zero byte.

// Whether `name` is of the pattern; `out_part` is what `*` stands for, "" where there is none.
int name_pattern_match(const char *pattern, const char *name, char out_part[NAME_PATTERN_PART]);

int name_pattern_is_open(const char *pattern); // Whether it has a `*`.

// The name with `part` in the place of each `*`, in `arena`. NULL: no memory.
const char *name_pattern_fill(struct arena *arena, const char *pattern, const char *part);
