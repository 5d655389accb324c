// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A text file as chunks of tokens that a model reads one after the other, each from the begin.
//
// The chunks are those by which others quote a perplexity (docs/perplexity.md): the text is encoded
// as a whole, with what the tokenizer puts before it, and cut every `context` tokens; what is left
// behind the last whole chunk is left out. Where the tokenizer begins a text with a token of its
// own, that token takes the place of the first one of each chunk, which is lost. One newline at the
// end of the file is left out, too.
//
// One thread.
#pragma once

#include "tokenizer/tokenizer.h"

enum { TEXT_CHUNKS_CONTEXT = 512, TEXT_CHUNKS_CONTEXT_LEAST = 4 };

struct text_chunks {
    int32_t *ids;  // Of the whole text, owned.
    int64_t count; // Of these.
    int64_t context, chunk_count;
    int32_t begin; // What each chunk begins with in place of its first token; -1: nothing.
};

// Reads and encodes the file `path`, to be cut every `context` tokens, at least
// TEXT_CHUNKS_CONTEXT_LEAST, into at most `most` chunks. The caller releases the chunks. Fails as
// `file_read` and `tokenizer_encode`; TAPML_INVALID for a text of fewer tokens than a chunk has.
tapml_status text_chunks_read(const struct tokenizer *tokenizer,
                              const char *path,
                              int64_t context,
                              int64_t most,
                              struct text_chunks *out_chunks) STATUS_USED;
void text_chunks_release(struct text_chunks *chunks);

// Writes the `context` ids of the chunk `index`.
void text_chunks_copy(const struct text_chunks *chunks, int64_t index, int32_t *out_ids);

// The first position of a chunk whose logits count, context / 2: the model has seen as many tokens
// before. The last one is context - 2, since the last token has no successor.
int64_t text_chunks_first(const struct text_chunks *chunks);

// Tokens of context where a user says nothing: TEXT_CHUNKS_CONTEXT, or as many as the model of
// `folder` (or GGUF file) was made for by its config, if these are fewer. Fails as `config_open`.
tapml_status text_chunks_default_context(const char *folder, int64_t *out_context) STATUS_USED;
