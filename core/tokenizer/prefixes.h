// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A set of byte strings that is searched byte by byte: which of them begin a text? The object is
// constant after its creation: several threads may use it.
#pragma once

#include "base/status.h"
#include "tokenizer/vocabulary.h"

#include <stddef.h>
#include <stdint.h>

struct prefixes;

// Takes those of `count` tokens that are not empty; of equal ones the first is found. `tokens` and
// their bytes outlive the result, which the caller owns.
tapml_status prefixes_create(const struct vocabulary_token *tokens,
                             size_t count,
                             struct prefixes **out_prefixes) STATUS_USED;

// NULL is allowed.
void prefixes_destroy(struct prefixes *prefixes);

// Where a search is: all strings that begin with the bytes so far.
struct prefixes_walk {
    size_t first, end;
    size_t depth;
};

// Begins a search, with no byte so far.
void prefixes_start(const struct prefixes *prefixes, struct prefixes_walk *walk);

// Goes on by one byte. Returns 0 if no string begins so.
int prefixes_step(const struct prefixes *prefixes, struct prefixes_walk *walk, unsigned char byte);

// The token that the bytes so far are, or NULL.
const struct vocabulary_token *prefixes_match(const struct prefixes *prefixes,
                                              const struct prefixes_walk *walk);

// The longest token that begins `text`, or NULL.
const struct vocabulary_token *
prefixes_longest(const struct prefixes *prefixes, const char *text, size_t length);
