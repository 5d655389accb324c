// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "tokenizer/tokenizer.h"

#include "base/alloc.h"
#include "base/utf8.h"
#include "tokenizer/parts.h"
#include "tokenizer/sources.h"

#include <string.h>

enum { TEXT_LENGTH_MAX = 1 << 28 };

struct tokenizer {
    struct parts parts;
};

int tokenizer_exists(const char *folder)
{
    return sources_exist(folder);
}

tapml_status tokenizer_open(const char *folder, struct tokenizer **out_tokenizer)
{
    struct tokenizer *tokenizer = alloc_new(sizeof(*tokenizer));
    if (!tokenizer) {
        return status_no_memory();
    }
    const tapml_status status = sources_read(folder, &tokenizer->parts);
    if (status != TAPML_OK) {
        tokenizer_close(tokenizer);
        return status;
    }
    *out_tokenizer = tokenizer;
    return TAPML_OK;
}

void tokenizer_close(struct tokenizer *tokenizer)
{
    if (tokenizer) {
        parts_release(&tokenizer->parts);
        alloc_free(tokenizer);
    }
}

// -- Encoding ----------------------------------------------------------------------------------

// One text on its way to ids.
struct encoding {
    const struct parts *parts;
    struct ids *ids;
    struct piece_work work;
    struct splitter_work *splitter;
    struct text normalized;
    int has_begun; // Something of the text has been encoded.
};

static tapml_status encode_plain(struct encoding *encoding, const char *text, size_t length)
{
    const struct piece_encoder *encoder = &encoding->parts->encoder;
    const struct pieces *pieces = NULL;
    TAPML_TRY(splitter_apply(encoding->splitter, text, length, !encoding->has_begun, &pieces));
    encoding->has_begun = 1;
    for (size_t i = 0; i < pieces->count; ++i) {
        size_t size = 0;
        const char *piece = pieces_get(pieces, i, &size);
        TAPML_TRY(
            encoder->type->encode(encoder->model, &encoding->work, piece, size, encoding->ids));
    }
    return TAPML_OK;
}

typedef tapml_status (*encode_fn)(struct encoding *encoding, const char *text, size_t length);

// Cuts the added tokens of one round out of a text; `rest` takes what lies between them.
static tapml_status encode_round(
    struct encoding *encoding, const char *text, size_t length, int normalized, encode_fn rest)
{
    struct added_search search = {
        .added = encoding->parts->added,
        .normalized = normalized,
        .text = text,
        .length = length,
    };
    size_t done = 0;
    for (;;) {
        struct added_match match;
        TAPML_TRY(added_next(&search, &match));
        if (match.begin > done) {
            TAPML_TRY(rest(encoding, text + done, match.begin - done));
        }
        if (match.id < 0) {
            return TAPML_OK;
        }
        TAPML_TRY(ids_add(encoding->ids, match.id));
        encoding->has_begun = 1;
        done = match.end;
    }
}

static tapml_status encode_normalized(struct encoding *encoding, const char *text, size_t length)
{
    text_clear(&encoding->normalized);
    TAPML_TRY(normalizer_apply(encoding->parts->normalizer, text, length, &encoding->normalized));
    return encode_round(encoding, encoding->normalized.data, encoding->normalized.length, 1,
                        encode_plain);
}

static tapml_status
encode_text(const struct parts *parts, const char *text, size_t length, struct ids *out_ids)
{
    struct encoding encoding = {.parts = parts, .ids = out_ids};
    piece_encoder_work_init(&encoding.work);
    text_init(&encoding.normalized);
    tapml_status status = splitter_work_create(parts->splitter, &encoding.splitter);
    if (status == TAPML_OK) {
        status = encode_round(&encoding, text, length, 0, encode_normalized);
    }
    splitter_work_destroy(encoding.splitter);
    text_release(&encoding.normalized);
    piece_encoder_work_release(&encoding.work);
    return status;
}

static tapml_status encode_all(
    const struct parts *parts, const char *text, size_t length, int special, struct ids *out_ids)
{
    if (special) {
        TAPML_TRY(ids_add_all(out_ids, &parts->templates.before));
    }
    TAPML_TRY(encode_text(parts, text, length, out_ids));
    return special ? ids_add_all(out_ids, &parts->templates.after) : TAPML_OK;
}

tapml_status tokenizer_encode(const struct tokenizer *tokenizer,
                              const char *text,
                              size_t length,
                              int special,
                              int32_t **out_ids,
                              size_t *out_count)
{
    if (length > TEXT_LENGTH_MAX || !utf8_is_valid(text, length)) {
        return status_fail(TAPML_INVALID,
                           "expected a text of UTF-8, at most %d bytes long, found %zu bytes",
                           TEXT_LENGTH_MAX, length);
    }
    struct ids ids;
    ids_init(&ids);
    const tapml_status status = encode_all(&tokenizer->parts, text, length, special, &ids);
    if (status != TAPML_OK) {
        ids_release(&ids);
        return status;
    }
    *out_ids = ids.items;
    *out_count = ids.count;
    return TAPML_OK;
}

// -- Decoding ----------------------------------------------------------------------------------

struct tokenizer_stream {
    const struct tokenizer *tokenizer;
    int skip_special;
    struct decoder_stream *decoder;
};

tapml_status tokenizer_stream_create(const struct tokenizer *tokenizer,
                                     int skip_special,
                                     struct tokenizer_stream **out_stream)
{
    struct tokenizer_stream *stream = alloc_new(sizeof(*stream));
    if (!stream) {
        return status_no_memory();
    }
    *stream = (struct tokenizer_stream){.tokenizer = tokenizer, .skip_special = skip_special};
    const tapml_status status = decoder_stream_create(tokenizer->parts.decoder, &stream->decoder);
    if (status != TAPML_OK) {
        tokenizer_stream_destroy(stream);
        return status;
    }
    *out_stream = stream;
    return TAPML_OK;
}

void tokenizer_stream_destroy(struct tokenizer_stream *stream)
{
    if (stream) {
        decoder_stream_destroy(stream->decoder);
        alloc_free(stream);
    }
}

static enum parts_kind kind_of(const struct parts *parts, int32_t id)
{
    return (size_t)id < parts->kind_count ? (enum parts_kind)parts->kinds[id] : PARTS_PLAIN;
}

tapml_status tokenizer_stream_push(struct tokenizer_stream *stream, int32_t id, struct text *out)
{
    const struct parts *parts = &stream->tokenizer->parts;
    int is_special = 0;
    // Added tokens come before those of the model.
    const char *content = added_find(parts->added, id, &is_special);
    const struct vocabulary_token *token = content ? NULL : vocabulary_get(parts->vocabulary, id);
    if (content) {
        return is_special && stream->skip_special
                   ? TAPML_OK
                   : decoder_stream_push(stream->decoder, content, strlen(content), out);
    }
    if (id < 0) {
        return status_fail(TAPML_INVALID, "%s: expected the id of a token, found %d", parts->name,
                           id);
    }
    if (!token) {
        return TAPML_OK;
    }
    switch (kind_of(parts, id)) {
    case PARTS_CONTROL:
        return TAPML_OK;
    case PARTS_UNKNOWN:
        return decoder_stream_push(stream->decoder, " \xe2\x81\x87 ", 5, out);
    case PARTS_PLAIN:
        break;
    }
    return decoder_stream_push(stream->decoder, token->bytes, token->length, out);
}

tapml_status tokenizer_stream_finish(struct tokenizer_stream *stream, struct text *out)
{
    return decoder_stream_finish(stream->decoder, out);
}

static tapml_status
decode_all(struct tokenizer_stream *stream, const int32_t *ids, size_t count, struct text *out)
{
    for (size_t i = 0; i < count; ++i) {
        TAPML_TRY(tokenizer_stream_push(stream, ids[i], out));
    }
    TAPML_TRY(tokenizer_stream_finish(stream, out));
    return text_status(out);
}

tapml_status tokenizer_decode(const struct tokenizer *tokenizer,
                              const int32_t *ids,
                              size_t count,
                              int skip_special,
                              char **out_text,
                              size_t *out_length)
{
    struct tokenizer_stream *stream = NULL;
    struct text text;
    size_t length = 0;
    TAPML_TRY(tokenizer_stream_create(tokenizer, skip_special, &stream));
    text_init(&text);
    tapml_status status = decode_all(stream, ids, count, &text);
    if (status == TAPML_OK) {
        status = text_take(&text, out_text, &length);
    }
    if (status == TAPML_OK && out_length) {
        *out_length = length;
    }
    text_release(&text);
    tokenizer_stream_destroy(stream);
    return status;
}
