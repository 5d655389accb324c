// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// WordPiece: the longest token first, with a mark before what does not begin a word.
#pragma once

#include "base/status.h"
#include "tokenizer/piece_encoder.h"
#include "tokenizer/vocabulary.h"

#include <jansson.h>

// Reads the options of the `model` of a tokenizer.json; messages use `name` for the file.
// `vocabulary` outlives the encoder, which the caller owns. TAPML_INVALID if the token of unknown
// words is not in the vocabulary.
tapml_status wordpiece_create(const char *name,
                              const json_t *model,
                              const struct vocabulary *vocabulary,
                              struct piece_encoder *out_encoder) STATUS_USED;
