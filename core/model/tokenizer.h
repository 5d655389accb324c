// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Text to token ids and back, from tokenizer.json: byte-level BPE.
//
// What the file asks for and this does not know (other models, normalizers, pre-tokenizers,
// decoders) is refused by name.
#pragma once

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

struct tokenizer;

// Reads FOLDER/tokenizer.json. The caller owns the result.
tapml_status tokenizer_open(const char *folder, struct tokenizer **out_tokenizer) STATUS_USED;
void tokenizer_close(struct tokenizer *tokenizer);

// Ids of a UTF-8 text of `length` bytes; with the beginning and end that the file's post-processor
// adds where `special`. Freed by alloc_free. TAPML_INVALID where the text is no UTF-8.
tapml_status tokenizer_encode(const struct tokenizer *tokenizer,
                              const char *text,
                              size_t length,
                              int special,
                              int32_t **out_ids,
                              size_t *out_count) STATUS_USED;

// The text of some ids, ended by a zero byte; bytes that make no UTF-8 become U+FFFD. Freed by
// alloc_free. `skip_special` leaves out tokens marked special. TAPML_INVALID for an id it lacks.
tapml_status tokenizer_decode(const struct tokenizer *tokenizer,
                              const int32_t *ids,
                              size_t count,
                              int skip_special,
                              char **out_text) STATUS_USED;
