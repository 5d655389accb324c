// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The "decoder" of a tokenizer: the spellings of tokens become a text, one token after the other.
// What a later token could change is held back: an incomplete character, a run of byte tokens. The
// object is constant after its creation: several threads may use it.
#pragma once

#include "base/status.h"
#include "base/text.h"

#include <jansson.h>
#include <stddef.h>

struct decoder;

// Reads `value`, the "decoder" of a tokenizer.json; without one, tokens stand between spaces.
// Messages use `name` for the file. A kind that is not known is refused by name. The caller owns
// the result.
tapml_status
decoder_create(const char *name, const json_t *value, struct decoder **out_decoder) STATUS_USED;

// Makes a decoder for tokens that are bytes.
tapml_status decoder_create_bytes(struct decoder **out_decoder) STATUS_USED;

// Makes the decoder of a SentencePiece model, which replaces U+2581 by a space. Of the spaces that
// begin the text one is left out if `drops_space`, all if `drops_all`.
tapml_status decoder_create_sentencepiece(int drops_space,
                                          int drops_all,
                                          struct decoder **out_decoder) STATUS_USED;

// NULL is allowed.
void decoder_destroy(struct decoder *decoder);

// One text on its way.
struct decoder_stream;

// The caller owns the stream; `decoder` outlives it.
tapml_status decoder_stream_create(const struct decoder *decoder,
                                   struct decoder_stream **out_stream) STATUS_USED;

// NULL is allowed.
void decoder_stream_destroy(struct decoder_stream *stream);

// Takes the next token, and appends to `out` what is known of the text from now on.
tapml_status decoder_stream_push(struct decoder_stream *stream,
                                 const char *token,
                                 size_t length,
                                 struct text *out) STATUS_USED;

// Appends the rest, behind the last token. Bytes that are not UTF-8 become U+FFFD.
tapml_status decoder_stream_finish(struct decoder_stream *stream, struct text *out) STATUS_USED;
