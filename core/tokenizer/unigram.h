// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The unigram model: of all ways to cut a piece into tokens, the one whose log-probabilities have
// the largest sum (Viterbi; Kudo, 2018, "Subword Regularization").
#pragma once

#include "base/status.h"
#include "tokenizer/piece_encoder.h"
#include "tokenizer/vocabulary.h"

#include <stddef.h>
#include <stdint.h>

struct unigram_options {
    const struct vocabulary *vocabulary; // Outlives the encoder.
    const double *scores;                // By id, 0 .. score_count - 1; NAN: never used. Copied.
    size_t score_count;
    double unknown_score;    // Of a character without a token of its own.
    int32_t unknown_id;      // Of a run of such characters; VOCABULARY_NONE: an error.
    const int32_t *byte_ids; // Of such characters instead; or NULL. Borrowed.
    int is_single;           // Sums are rounded to single precision, which decides between equals.
    int finds_unknown;       // A run of unknown characters is looked up as a whole once more.
};

// The caller owns the encoder.
tapml_status unigram_create(const struct unigram_options *options,
                            struct piece_encoder *out_encoder) STATUS_USED;
