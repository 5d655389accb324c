// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The large members of a tokenizer.json, `vocab` and `merges` of its `model`, without a tree: a
// million of values are read in half a second, for which a tree takes several.
#pragma once

#include "base/status.h"
#include "base/text.h"
#include "tokenizer/vocabulary.h"

#include <jansson.h>
#include <stddef.h>

// A value as it stands in a file.
struct listing_span {
    const char *begin, *end; // NULL: it is not there.
};

struct listing {
    struct listing_span vocab;  // An object.
    struct listing_span merges; // An array.
};

// Finds both members in the text of a file, which must outlive them. Where the file is not as
// expected, none is found: a reader of all JSON will say what is wrong.
void listing_find(const char *text, size_t size, struct listing *out_listing);

// Appends the file without them, `{}` and `[]` in their places.
tapml_status listing_rest(const struct listing *listing,
                          const char *text,
                          size_t size,
                          struct text *out) STATUS_USED;

// Finds both members, and parses the rest as JSON, which the caller owns; messages use `name` for
// the file.
tapml_status listing_parse(const char *name,
                           const char *text,
                           size_t size,
                           struct listing *out_listing,
                           json_t **out_root) STATUS_USED;

// Adds the tokens of `vocab`; messages use `name` for the file. A repeated token is refused.
tapml_status listing_read_vocab(const struct listing_span *vocab,
                                const char *name,
                                struct vocabulary *vocabulary) STATUS_USED;

// Takes a merge: its halves, which last for the call.
typedef tapml_status (*listing_merge_fn)(void *user,
                                         size_t rank,
                                         const struct text *left,
                                         const struct text *right);

// Reads the merges, "a b" or ["a", "b"], and counts them. `merge` may be NULL.
tapml_status listing_read_merges(const struct listing_span *merges,
                                 const char *name,
                                 listing_merge_fn merge,
                                 void *user,
                                 size_t *out_count) STATUS_USED;
