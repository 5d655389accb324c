// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Byte pair encoding by a rank of each token, as SentencePiece and tiktoken have it: two neighbours
// merge if they are a token together, that of the lowest rank first.
#pragma once

#include "base/status.h"
#include "tokenizer/piece_encoder.h"
#include "tokenizer/vocabulary.h"

#include <stdint.h>

#define RANKED_NEVER UINT32_MAX // The rank of a token that no text becomes.

struct ranked_options {
    const struct vocabulary *vocabulary; // Outlives the encoder.
    const uint32_t *ranks;               // By id, 0 .. rank_count - 1. Copied.
    size_t rank_count;
    const struct prefixes *whole; // Tokens that are cut out before all merges; or NULL. Borrowed.
    int is_bytes;                 // A text begins as bytes, not as characters.
    int takes_whole_pieces;       // That are a token.
    const int32_t *byte_ids;      // Of a character that has no token; or NULL. Borrowed.
    int32_t unknown_id;           // Of a run of such characters; VOCABULARY_NONE: an error.
};

// The caller owns the encoder.
tapml_status ranked_create(const struct ranked_options *options,
                           struct piece_encoder *out_encoder) STATUS_USED;
