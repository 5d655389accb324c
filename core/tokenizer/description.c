// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "tokenizer/description.h"

#include "base/alloc.h"
#include "base/json_file.h"
#include "base/text.h"
#include "tokenizer/bpe.h"
#include "tokenizer/unigram.h"
#include "tokenizer/wordpiece.h"

#include <math.h>
#include <string.h>

static const double unknown_penalty = 10;

// Old files name no type: what they have tells it.
static const char *type_of(const json_t *model)
{
    const char *type = json_string_value(json_object_get(model, "type"));
    if (type) {
        return type;
    }
    return json_object_get(model, "merges")   ? "BPE"
           : json_object_get(model, "unk_id") ? "Unigram"
           : json_is_object(json_object_get(model, "vocab")) &&
                   json_object_get(model, "continuing_subword_prefix")
               ? "WordPiece"
               : "without a type";
}

static tapml_status wrong_piece(const struct parts *parts, size_t index)
{
    return status_fail(TAPML_INVALID, "%s: expected a text and a number as piece %zu", parts->name,
                       index);
}

static tapml_status
read_pieces(struct parts *parts, const json_t *pieces, double *scores, double *out_least)
{
    const size_t count = json_array_size(pieces);
    double least = INFINITY;
    for (size_t i = 0; i < count; ++i) {
        const json_t *piece = json_array_get(pieces, i);
        const char *spelling = json_string_value(json_array_get(piece, 0));
        const json_t *score = json_array_get(piece, 1);
        if (!spelling || !json_is_number(score)) {
            return wrong_piece(parts, i);
        }
        scores[i] = json_number_value(score);
        least = scores[i] < least ? scores[i] : least;
        TAPML_TRY(vocabulary_add(parts->vocabulary, spelling, strlen(spelling), (int64_t)i));
    }
    *out_least = least;
    return vocabulary_finish(parts->vocabulary);
}

static tapml_status
create_unigram(struct parts *parts, const json_t *model, const double *scores, double least)
{
    const json_t *unknown = json_object_get(model, "unk_id");
    const json_int_t id = json_is_integer(unknown) ? json_integer_value(unknown) : -1;
    const size_t count = json_array_size(json_object_get(model, "vocab"));
    if (id < -1 || id >= (json_int_t)count) {
        return status_fail(TAPML_INVALID, "%s: expected an 'unk_id' below %zu", parts->name, count);
    }
    const int falls_back = json_is_true(json_object_get(model, "byte_fallback"));
    const struct unigram_options options = {
        .vocabulary = parts->vocabulary,
        .scores = scores,
        .score_count = count,
        .unknown_score = least - unknown_penalty,
        .unknown_id = (int32_t)id,
        .byte_ids = falls_back ? vocabulary_byte_ids(parts->vocabulary) : NULL,
        .finds_unknown = 1,
    };
    return unigram_create(&options, &parts->encoder);
}

static tapml_status read_unigram(struct parts *parts, const json_t *model)
{
    const json_t *pieces = json_object_get(model, "vocab");
    const size_t count = json_array_size(pieces);
    double least = 0;
    double *scores = alloc_array(count > 0 ? count : 1, sizeof(*scores));
    if (!scores) {
        return status_no_memory();
    }
    tapml_status status = read_pieces(parts, pieces, scores, &least);
    if (status == TAPML_OK) {
        status = create_unigram(parts, model, scores, least);
    }
    alloc_free(scores);
    return status;
}

static tapml_status
read_vocabulary(struct parts *parts, const json_t *model, const struct listing_span *span)
{
    struct vocabulary *vocabulary = parts->vocabulary;
    TAPML_TRY(span->begin ? listing_read_vocab(span, parts->name, vocabulary)
                          : vocabulary_add_object(vocabulary, json_object_get(model, "vocab")));
    return vocabulary_finish(vocabulary);
}

static tapml_status
read_model(struct parts *parts, const json_t *model, const struct listing *listing)
{
    const char *type = type_of(model);
    TAPML_TRY(vocabulary_create(parts->name, &parts->vocabulary));
    if (strcmp(type, "Unigram") == 0) {
        return read_unigram(parts, model);
    }
    const int is_bpe = strcmp(type, "BPE") == 0;
    if (!is_bpe && strcmp(type, "WordPiece") != 0) {
        return status_fail(TAPML_INVALID, "%s: model '%.64s' is unsupported", parts->name, type);
    }
    TAPML_TRY(read_vocabulary(parts, model, &listing->vocab));
    const struct listing_span *merges = listing->merges.begin ? &listing->merges : NULL;
    return is_bpe ? bpe_create(parts->name, model, merges, parts->vocabulary, &parts->encoder)
                  : wordpiece_create(parts->name, model, parts->vocabulary, &parts->encoder);
}

// An added token has the id of a token of the model only where it is that token.
static tapml_status check_added(const struct parts *parts, const json_t *added)
{
    size_t index = 0;
    const json_t *item = NULL;
    json_array_foreach(added, index, item)
    {
        const char *content = json_string_value(json_object_get(item, "content"));
        const json_int_t id = json_integer_value(json_object_get(item, "id"));
        const struct vocabulary_token *token =
            id <= INT32_MAX ? vocabulary_get(parts->vocabulary, (int32_t)id) : NULL;
        if (token && strcmp(token->bytes, content) != 0) {
            return status_fail(TAPML_INVALID,
                               "%s: expected one token for each id, found '%.64s' of the model and "
                               "'%.64s' of 'added_tokens' for %d",
                               parts->name, token->bytes, content, token->id);
        }
    }
    return TAPML_OK;
}

tapml_status
description_read(const json_t *root, const struct listing *listing, struct parts *parts)
{
    const struct listing none = {.vocab = {.begin = NULL}};
    if (!json_is_object(root)) {
        return status_fail(TAPML_INVALID, "%s: expected an object", parts->name);
    }
    TAPML_TRY(
        normalizer_create(parts->name, json_object_get(root, "normalizer"), &parts->normalizer));
    TAPML_TRY(
        splitter_create(parts->name, json_object_get(root, "pre_tokenizer"), &parts->splitter));
    TAPML_TRY(
        templates_read(&parts->templates, parts->name, json_object_get(root, "post_processor")));
    TAPML_TRY(decoder_create(parts->name, json_object_get(root, "decoder"), &parts->decoder));
    TAPML_TRY(read_model(parts, json_object_get(root, "model"), listing ? listing : &none));
    const json_t *added = json_object_get(root, "added_tokens");
    TAPML_TRY(added_create(parts->name, added, parts->normalizer, &parts->added));
    return check_added(parts, added);
}

tapml_status description_parse(const char *text, size_t size, struct parts *parts)
{
    struct listing listing;
    json_t *root = NULL;
    TAPML_TRY(listing_parse(parts->name, text, size, &listing, &root));
    const tapml_status status = description_read(root, &listing, parts);
    json_decref(root);
    return status;
}
