// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Text to token ids and back, by the tokenizer of a model's folder (sources.h lists the files).
//
// Unknown kinds of models, normalizers, pre-tokenizers and decoders are refused by name. A
// tokenizer is constant after its creation: several threads may use it.
#pragma once

#include "base/status.h"
#include "base/text.h"

#include <stddef.h>
#include <stdint.h>

struct tokenizer;

// Whether the folder has a file that describes a tokenizer.
int tokenizer_exists(const char *folder);

// Reads the tokenizer of a folder. The caller owns the result.
tapml_status tokenizer_open(const char *folder, struct tokenizer **out_tokenizer) STATUS_USED;

// NULL is allowed.
void tokenizer_close(struct tokenizer *tokenizer);

// Encodes a UTF-8 text of `length` bytes. If `special`, the ids include the beginning and end that
// the file's post-processor adds, or tokenizer_config.json. The caller frees `*out_ids` by
// alloc_free. TAPML_INVALID if the text is not UTF-8.
tapml_status tokenizer_encode(const struct tokenizer *tokenizer,
                              const char *text,
                              size_t length,
                              int special,
                              int32_t **out_ids,
                              size_t *out_count) STATUS_USED;

// Decodes ids to a text with a zero byte behind its `*out_length` bytes (NULL: not wanted), which
// may be zero bytes too; bytes that are not UTF-8 become U+FFFD.
// `skip_special` omits tokens that are marked special. The caller frees `*out_text` by alloc_free.
// An id without a token has no text: models have more rows than tokens, and the vocabulary of RWKV
// lacks the end of text. TAPML_INVALID for a negative one.
tapml_status tokenizer_decode(const struct tokenizer *tokenizer,
                              const int32_t *ids,
                              size_t count,
                              int skip_special,
                              char **out_text,
                              size_t *out_length) STATUS_USED;

// A text that is decoded token by token, as the ids come.
struct tokenizer_stream;

// The caller owns the stream; `tokenizer` outlives it.
tapml_status tokenizer_stream_create(const struct tokenizer *tokenizer,
                                     int skip_special,
                                     struct tokenizer_stream **out_stream) STATUS_USED;

// NULL is allowed.
void tokenizer_stream_destroy(struct tokenizer_stream *stream);

// Takes the next id and appends to `out` what is known of the text from now on: an incomplete
// character is held back. TAPML_INVALID for a negative id.
tapml_status
tokenizer_stream_push(struct tokenizer_stream *stream, int32_t id, struct text *out) STATUS_USED;

// Appends what was held back, behind the last id. Together it is what tokenizer_decode gives.
tapml_status tokenizer_stream_finish(struct tokenizer_stream *stream, struct text *out) STATUS_USED;
