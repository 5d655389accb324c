// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Text to token ids and back, from tokenizer.json: byte-level BPE.
//
// Unknown kinds of models, normalizers, pre-tokenizers and decoders are refused by name. A
// tokenizer is constant after its creation: several threads may use it.
#pragma once

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

struct tokenizer;

// Reads FOLDER/tokenizer.json. The caller owns the result.
tapml_status tokenizer_open(const char *folder, struct tokenizer **out_tokenizer) STATUS_USED;

// NULL is allowed.
void tokenizer_close(struct tokenizer *tokenizer);

// Encodes a UTF-8 text of `length` bytes. If `special`, the ids include the beginning and end that
// the file's post-processor adds. The caller frees `*out_ids` by alloc_free. TAPML_INVALID if the
// text is not UTF-8.
tapml_status tokenizer_encode(const struct tokenizer *tokenizer,
                              const char *text,
                              size_t length,
                              int special,
                              int32_t **out_ids,
                              size_t *out_count) STATUS_USED;

// Decodes ids to a text with a zero byte at its end; bytes that are not UTF-8 become U+FFFD.
// `skip_special` omits tokens that are marked special. The caller frees `*out_text` by alloc_free.
// TAPML_INVALID for an unknown id.
tapml_status tokenizer_decode(const struct tokenizer *tokenizer,
                              const int32_t *ids,
                              size_t count,
                              int skip_special,
                              char **out_text) STATUS_USED;
