// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The added tokens of a tokenizer.json: words that are cut out of a text before any other step. The
// object is constant after its creation: several threads may use it.
#pragma once

#include "base/status.h"

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

struct added;
struct normalizer;

// Reads the array `tokens`, which may be NULL; messages use `name` for the file. Tokens that are
// searched for in normalized text are normalized too, by `normalizer`, which may be NULL. The
// caller owns the result. TAPML_INVALID names a token that cannot be used, and two tokens with one
// id.
tapml_status added_create(const char *name,
                          const json_t *tokens,
                          const struct normalizer *normalizer,
                          struct added **out_added) STATUS_USED;

// NULL is allowed.
void added_destroy(struct added *added);

// Returns the id of the token with this content, or -1.
int32_t added_id(const struct added *added, const char *content);

// Returns the text of token `id` as decoders take it, normalized if the token is, or NULL; it lives
// as long as `added`. `*out_is_special` is
// written only if there is such a token.
const char *added_find(const struct added *added, int32_t id, int *out_is_special);

// A search for added tokens, from left to right, the longest first at each position. A separate
// round, after the others, searches for tokens that are `normalized`.
struct added_search {
    const struct added *added;
    int normalized;
    const char *text; // UTF-8
    size_t length;
    size_t at;      // Where the search continues.
    size_t covered; // End of the last match, with the blanks that belong to it.
};

struct added_match {
    int32_t id; // -1: no more
    size_t begin, end;
};

// Finds the next match, which has the id -1 if there are no more.
tapml_status added_next(struct added_search *search, struct added_match *out_match) STATUS_USED;
