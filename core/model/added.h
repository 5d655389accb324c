// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The added tokens of a tokenizer.json: words that are cut out of a text before anything else.
#pragma once

#include "base/status.h"

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

struct added;

// Reads the array `tokens`, which may be NULL; `name` is the file's, for messages. The caller owns
// the result.
tapml_status
added_create(const char *name, const json_t *tokens, struct added **out_added) STATUS_USED;
void added_destroy(struct added *added);

// The text of token `id`, or NULL.
const char *added_find(const struct added *added, int32_t id, int *out_is_special);

// A search for added tokens, from the left, the longest first at each place. Those that are
// `normalized` are looked for in a round of their own, behind the others.
struct added_search {
    const struct added *added;
    int normalized;
    const char *text; // UTF-8
    size_t length;
    size_t at;      // Where to look on.
    size_t covered; // What the matches so far have taken, with the blanks that they swallow.
};

struct added_match {
    int32_t id; // -1: no more
    size_t begin, end;
};

tapml_status added_next(struct added_search *search, struct added_match *out_match) STATUS_USED;
