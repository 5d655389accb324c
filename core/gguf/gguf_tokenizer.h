// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The tokenizer in the metadata of a GGUF model, as the files of a model folder would have it. The
// table conf/gguf/tokenizers.json says what the names of kinds and of splitting patterns mean.
#pragma once

#include "base/status.h"
#include "base/text.h"

#include <jansson.h>

// What a file would be.
enum gguf_tokenizer_kind {
    GGUF_TOKENIZER_NONE,        // The model has no tokenizer.
    GGUF_TOKENIZER_DESCRIPTION, // A tokenizer.json.
    GGUF_TOKENIZER_PIECES,      // A tokenizer.model of SentencePiece.
};

// Whether a file has a tokenizer. What cannot be read has none.
int gguf_tokenizer_exists(const char *path);

// Writes the file to `out`, which is empty and which the caller releases, after a failure too. An
// unknown kind or pattern is refused by name.
tapml_status gguf_tokenizer_load(const char *path,
                                 enum gguf_tokenizer_kind *out_kind,
                                 struct text *out) STATUS_USED;

// What tokenizer_config.json and generation_config.json would be, in one: the special tokens by
// role and id, what is added to a text, the chat template. The caller owns it.
tapml_status gguf_tokenizer_config(const char *path, json_t **out_config) STATUS_USED;
