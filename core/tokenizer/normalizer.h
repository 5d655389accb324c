// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The "normalizer" of a tokenizer: what happens to a text before it is cut into pieces. The object
// is constant after its creation: several threads may use it.
#pragma once

#include "base/status.h"
#include "base/text.h"

#include <jansson.h>
#include <stddef.h>

struct normalizer;

// Reads `value`, the "normalizer" of a tokenizer.json, which may be NULL or null; messages use
// `name` for the file. A kind that is not known is refused by name. The caller owns the result.
tapml_status normalizer_create(const char *name,
                               const json_t *value,
                               struct normalizer **out_normalizer) STATUS_USED;

struct prefixes;

struct normalizer_options {
    const void *charsmap; // Bytes of a precompiled map of characters; NULL: none
    size_t charsmap_size;
    const struct prefixes *whole; // What the map leaves as it is; or NULL. Borrowed.
    int removes_spaces;           // At both ends, and all but one of a row.
    int adds_space;               // Before the text, if it is not empty.
    int escapes_spaces;           // They become U+2581.
};

// Makes the normalizer of a SentencePiece model.
tapml_status normalizer_create_sentencepiece(const char *name,
                                             const struct normalizer_options *options,
                                             struct normalizer **out_normalizer) STATUS_USED;

// NULL is allowed.
void normalizer_destroy(struct normalizer *normalizer);

// Appends the normalized form of a well-formed text.
tapml_status normalizer_apply(const struct normalizer *normalizer,
                              const char *text,
                              size_t length,
                              struct text *out) STATUS_USED;
