// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/text_chunks.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/file.h"
#include "model/config.h"

#include <string.h>

enum { TEXT_BYTES_MAX = 1 << 30 };

// Where configs say how many positions a model was made for.
static const char *const limit_pointers[] = {"/max_position_embeddings", "/n_positions",
                                             "/max_sequence_length", "/seq_length",
                                             "/text_config/max_position_embeddings"};

// The token that the tokenizer puts before a text: what comes before the ids of any word.
static tapml_status find_begin(const struct tokenizer *tokenizer, int32_t *out_begin)
{
    int32_t *plain = NULL, *special = NULL;
    size_t plain_count = 0, special_count = 0;

    TAPML_TRY(tokenizer_encode(tokenizer, "a", 1, 0, &plain, &plain_count));
    const tapml_status status = tokenizer_encode(tokenizer, "a", 1, 1, &special, &special_count);

    if (status == TAPML_OK) {
        const int has_begin = special_count > plain_count && plain_count > 0 &&
                              memcmp(special, plain, plain_count * sizeof(*plain)) != 0;

        *out_begin = has_begin ? special[0] : -1;
    }
    alloc_free(plain);
    alloc_free(special);
    return status;
}

static tapml_status encode_file(const struct tokenizer *tokenizer,
                                const char *path,
                                int32_t **out_ids,
                                int64_t *out_count)
{
    char *text = NULL;
    size_t length = 0, count = 0;

    TAPML_TRY(file_read(path, TEXT_BYTES_MAX, &text, &length));
    length -= length > 0 && text[length - 1] == '\n';
    const tapml_status status = tokenizer_encode(tokenizer, text, length, 1, out_ids, &count);

    *out_count = status == TAPML_OK ? (int64_t)count : 0;
    alloc_free(text);
    return status == TAPML_OK ? TAPML_OK : status_explain(status, "%s", path);
}

tapml_status text_chunks_read(const struct tokenizer *tokenizer,
                              const char *path,
                              int64_t context,
                              int64_t most,
                              struct text_chunks *out_chunks)
{
    struct text_chunks chunks = {.context = context};

    ASSERT(context >= TEXT_CHUNKS_CONTEXT_LEAST && most > 0);
    TAPML_TRY(find_begin(tokenizer, &chunks.begin));
    TAPML_TRY(encode_file(tokenizer, path, &chunks.ids, &chunks.count));
    chunks.chunk_count = chunks.count / context;
    if (chunks.chunk_count == 0) {
        alloc_free(chunks.ids);
        return status_fail(TAPML_INVALID,
                           "%s: the text has %lld tokens, expected at least the %lld of one chunk: "
                           "give a longer text, or a smaller --context",
                           path, (long long)chunks.count, (long long)context);
    }
    chunks.chunk_count = chunks.chunk_count < most ? chunks.chunk_count : most;
    *out_chunks = chunks;
    return TAPML_OK;
}

void text_chunks_release(struct text_chunks *chunks)
{
    alloc_free(chunks->ids);
    *chunks = (struct text_chunks){0};
}

void text_chunks_copy(const struct text_chunks *chunks, int64_t index, int32_t *out_ids)
{
    ASSERT(index >= 0 && index < chunks->chunk_count);
    memcpy(out_ids, chunks->ids + index * chunks->context,
           (size_t)chunks->context * sizeof(*out_ids));
    if (chunks->begin >= 0) {
        out_ids[0] = chunks->begin;
    }
}

int64_t text_chunks_first(const struct text_chunks *chunks)
{
    return chunks->context / 2;
}

tapml_status text_chunks_default_context(const char *folder, int64_t *out_context)
{
    struct config *config = NULL;
    int64_t context = TEXT_CHUNKS_CONTEXT;

    TAPML_TRY(config_open(folder, &config));
    for (size_t i = 0; i < sizeof(limit_pointers) / sizeof(*limit_pointers); i++) {
        const json_int_t limit = json_integer_value(config_value(config, limit_pointers[i]));

        if (limit >= TEXT_CHUNKS_CONTEXT_LEAST && limit < context) {
            context = limit;
        }
    }
    config_close(config);
    *out_context = context;
    return TAPML_OK;
}
