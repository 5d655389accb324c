// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A prompts file: one prompt a line, as text, or as "ids: 5 17 3".
#pragma once

#include "base/hash.h"
#include "base/status.h"
#include "tokenizer/tokenizer.h"

#include <stddef.h>
#include <stdint.h>

struct prompt {
    const char *text; // As it stands in the file.
    int32_t *ids;
    size_t count;   // At least 1.
    unsigned line;  // In the file, from 1.
    struct hash id; // Of all that is fed: the ids.
};

struct prompts {
    struct arena *arena;
    struct prompt *items;
    size_t count;
};

// Reads a file. `tokenizer` may be NULL if every line is of ids; `no_text`, which is NULL or says
// why there is none, is then a part of the refusal of a text. Empty lines are passed over; an empty
// file, more than a million prompts, bytes that are no UTF-8, ids outside 0 .. vocabulary - 1
// (where `vocabulary` is not 0) and prompts longer than `length_max` (where it is not 0) are
// refused, with file and line.
tapml_status prompts_load(const char *path,
                          const struct tokenizer *tokenizer,
                          const char *no_text,
                          int64_t vocabulary,
                          size_t length_max,
                          struct prompts *out_prompts) STATUS_USED;
void prompts_release(struct prompts *prompts);
