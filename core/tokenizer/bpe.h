// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Byte pair encoding by a list of merges, as a tokenizer.json has it, over characters: those of a
// byte-level tokenizer stand for bytes (byte_level.h).
#pragma once

#include "base/status.h"
#include "tokenizer/listing.h"
#include "tokenizer/piece_encoder.h"
#include "tokenizer/vocabulary.h"

#include <jansson.h>

// Reads the options of the `model` of a tokenizer.json and its merges, or those of `merges`, which
// may be NULL; messages use `name` for the file. `vocabulary` is the model's and outlives the
// encoder, which the caller owns. An option that would change an id and is not known is refused by
// name.
tapml_status bpe_create(const char *name,
                        const json_t *model,
                        const struct listing_span *merges,
                        const struct vocabulary *vocabulary,
                        struct piece_encoder *out_encoder) STATUS_USED;
