// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "tokenizer/sentencepiece.h"

#include "base/alloc.h"
#include "base/utf8.h"
#include "tokenizer/ranked.h"
#include "tokenizer/unigram.h"
#include "tokenizer/wire_format.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// sentencepiece_model.proto: the numbers of the fields.
enum { MODEL_PIECES = 1, MODEL_TRAINER = 2, MODEL_NORMALIZER = 3 };
enum { PIECE_TEXT = 1, PIECE_SCORE = 2, PIECE_TYPE = 3 };
enum {
    TRAINER_TYPE = 3,
    TRAINER_SUFFIX = 24,
    TRAINER_FALLBACK = 35,
    TRAINER_UNKNOWN = 40,
    TRAINER_BEGIN = 41,
    TRAINER_END = 42,
};
enum { NORMALIZER_MAP = 2, NORMALIZER_PREFIX = 3, NORMALIZER_EXTRA = 4, NORMALIZER_ESCAPE = 5 };
enum { TYPE_UNIGRAM = 1, TYPE_BPE = 2 };
enum { NORMAL = 1, UNKNOWN = 2, CONTROL = 3, USER = 4, UNUSED = 5, BYTE = 6 };
enum { PIECES_MAX = 1 << 24 };

static const float unknown_penalty = 10;

struct sentencepiece_model {
    struct parts *parts;
    float *scores;
    uint8_t *types;
    size_t count, score_capacity, type_capacity;
    uint64_t type;
    int has_fallback;
    int32_t unknown, begin, end;
    struct normalizer_options normalizer;
};

static tapml_status broken(const struct sentencepiece_model *model, const char *what)
{
    return status_fail(TAPML_INVALID, "%s: expected a SentencePiece model, %s", model->parts->name,
                       what);
}

static float as_float(uint64_t bits)
{
    const uint32_t low = (uint32_t)bits;
    float value = 0;
    memcpy(&value, &low, sizeof(value));
    return value;
}

static tapml_status add_piece(struct sentencepiece_model *model,
                              const struct wire_format_field *text,
                              float score,
                              uint64_t type)
{
    if (!text->bytes || !utf8_is_valid(text->bytes, text->size) || type < NORMAL || type > BYTE ||
        isnan(score) || model->count == PIECES_MAX) {
        return broken(model, "found a piece without a text, a number and a type");
    }
    if (!alloc_grow((void **)&model->scores, &model->score_capacity, model->count,
                    sizeof(*model->scores)) ||
        !alloc_grow((void **)&model->types, &model->type_capacity, model->count,
                    sizeof(*model->types))) {
        return status_no_memory();
    }
    model->scores[model->count] = score;
    model->types[model->count] = (uint8_t)type;
    return vocabulary_add(model->parts->vocabulary, (const char *)text->bytes, text->size,
                          (int64_t)model->count++);
}

static tapml_status read_piece(struct sentencepiece_model *model,
                               const struct wire_format_field *message)
{
    struct wire_format reader;
    struct wire_format_field field;
    struct wire_format_field text = {0};
    float score = 0;
    uint64_t type = NORMAL;
    wire_format_start(&reader, message->bytes, message->size);
    while (wire_format_next(&reader, &field)) {
        if (field.number == PIECE_TEXT) {
            text = field;
        } else if (field.number == PIECE_SCORE) {
            score = as_float(field.value);
        } else if (field.number == PIECE_TYPE) {
            type = field.value;
        }
    }
    return reader.failed ? broken(model, "found a piece that is cut off")
                         : add_piece(model, &text, score, type);
}

// Ids are written as numbers of 64 bits, -1 for none.
static int32_t as_id(uint64_t value)
{
    return value <= INT32_MAX ? (int32_t)value : -1;
}

static tapml_status read_trainer(struct sentencepiece_model *model,
                                 const struct wire_format_field *message)
{
    struct wire_format reader;
    struct wire_format_field field;
    wire_format_start(&reader, message->bytes, message->size);
    while (wire_format_next(&reader, &field)) {
        if (field.number == TRAINER_TYPE) {
            model->type = field.value;
        } else if (field.number == TRAINER_FALLBACK) {
            model->has_fallback = field.value != 0;
        } else if (field.number == TRAINER_UNKNOWN) {
            model->unknown = as_id(field.value);
        } else if (field.number == TRAINER_BEGIN) {
            model->begin = as_id(field.value);
        } else if (field.number == TRAINER_END) {
            model->end = as_id(field.value);
        } else if (field.number == TRAINER_SUFFIX && field.value != 0) {
            return status_fail(TAPML_INVALID, "%s: treat_whitespace_as_suffix is unsupported",
                               model->parts->name);
        }
    }
    return reader.failed ? broken(model, "found a trainer_spec that is cut off") : TAPML_OK;
}

static tapml_status read_normalizer(struct sentencepiece_model *model,
                                    const struct wire_format_field *message)
{
    struct wire_format reader;
    struct wire_format_field field;
    struct normalizer_options *options = &model->normalizer;
    wire_format_start(&reader, message->bytes, message->size);
    while (wire_format_next(&reader, &field)) {
        if (field.number == NORMALIZER_MAP && field.size > 0) {
            options->charsmap = field.bytes;
            options->charsmap_size = field.size;
        } else if (field.number == NORMALIZER_PREFIX) {
            options->adds_space = field.value != 0;
        } else if (field.number == NORMALIZER_EXTRA) {
            options->removes_spaces = field.value != 0;
        } else if (field.number == NORMALIZER_ESCAPE) {
            options->escapes_spaces = field.value != 0;
        }
    }
    return reader.failed ? broken(model, "found a normalizer_spec that is cut off") : TAPML_OK;
}

static tapml_status read_fields(struct sentencepiece_model *model, const void *bytes, size_t size)
{
    struct wire_format reader;
    struct wire_format_field field;
    wire_format_start(&reader, bytes, size);
    while (wire_format_next(&reader, &field)) {
        if (field.number >= MODEL_PIECES && field.number <= MODEL_NORMALIZER && !field.bytes) {
            return broken(model, "found a number in the place of a message");
        }
        if (field.number == MODEL_PIECES) {
            TAPML_TRY(read_piece(model, &field));
        } else if (field.number == MODEL_TRAINER) {
            TAPML_TRY(read_trainer(model, &field));
        } else if (field.number == MODEL_NORMALIZER) {
            TAPML_TRY(read_normalizer(model, &field));
        }
    }
    return reader.failed ? broken(model, "found a field that is cut off")
                         : vocabulary_finish(model->parts->vocabulary);
}

// -- Models ------------------------------------------------------------------------------------

struct scored {
    float score;
    uint32_t id;
};

static int compare_scores(const void *a, const void *b)
{
    const struct scored *x = a;
    const struct scored *y = b;
    return x->score > y->score ? -1 : x->score < y->score;
}

static int takes_part(const struct sentencepiece_model *model, size_t id)
{
    return model->types[id] == NORMAL || model->types[id] == USER;
}

// The rank of a piece is the number of larger scores; equal scores have equal ranks.
static void
fill_ranks(const struct sentencepiece_model *model, struct scored *sorted, uint32_t *ranks)
{
    uint32_t rank = 0;
    for (size_t i = 0; i < model->count; ++i) {
        sorted[i] = (struct scored){.score = model->scores[i], .id = (uint32_t)i};
    }
    qsort(sorted, model->count, sizeof(*sorted), compare_scores);
    for (size_t i = 0; i < model->count; ++i) {
        rank = i > 0 && sorted[i].score < sorted[i - 1].score ? (uint32_t)i : rank;
        ranks[sorted[i].id] = takes_part(model, sorted[i].id) ? rank : RANKED_NEVER;
    }
}

static const int32_t *byte_ids(const struct sentencepiece_model *model)
{
    return model->has_fallback ? vocabulary_byte_ids(model->parts->vocabulary) : NULL;
}

// Pieces of the user are not normalized, and cut out before anything is merged.
static tapml_status find_wholes(struct sentencepiece_model *model)
{
    struct parts *parts = model->parts;
    size_t count = 0;
    parts->wholes = alloc_array(model->count, sizeof(*parts->wholes));
    if (!parts->wholes) {
        return status_no_memory();
    }
    for (size_t i = 0; i < model->count; ++i) {
        if (model->types[i] == USER) {
            parts->wholes[count++] = *vocabulary_get(parts->vocabulary, (int32_t)i);
        }
    }
    return count > 0 ? prefixes_create(parts->wholes, count, &parts->whole) : TAPML_OK;
}

static tapml_status create_bpe(struct sentencepiece_model *model)
{
    struct scored *sorted = alloc_array(model->count, sizeof(*sorted));
    uint32_t *ranks = alloc_array(model->count, sizeof(*ranks));
    tapml_status status = sorted && ranks ? TAPML_OK : status_no_memory();
    if (status == TAPML_OK) {
        fill_ranks(model, sorted, ranks);
        status = ranked_create(&(struct ranked_options){.vocabulary = model->parts->vocabulary,
                                                        .ranks = ranks,
                                                        .rank_count = model->count,
                                                        .whole = model->parts->whole,
                                                        .byte_ids = byte_ids(model),
                                                        .unknown_id = model->unknown},
                               &model->parts->encoder);
    }
    alloc_free(sorted);
    alloc_free(ranks);
    return status;
}

// A piece of the user has a score that no other way can reach.
static void fill_scores(const struct sentencepiece_model *model, double *scores, float *out_least)
{
    float least = INFINITY;
    float most = -INFINITY;
    for (size_t i = 0; i < model->count; ++i) {
        if (model->types[i] == NORMAL) {
            least = model->scores[i] < least ? model->scores[i] : least;
            most = model->scores[i] > most ? model->scores[i] : most;
        }
    }
    for (size_t i = 0; i < model->count; ++i) {
        const size_t length = vocabulary_get(model->parts->vocabulary, (int32_t)i)->length;
        scores[i] = !takes_part(model, i)     ? NAN
                    : model->types[i] == USER ? (float)((double)((float)length * most) - 0.1)
                                              : model->scores[i];
    }
    *out_least = least;
}

static tapml_status create_unigram(struct sentencepiece_model *model)
{
    float least = 0;
    double *scores = alloc_array(model->count, sizeof(*scores));
    if (!scores) {
        return status_no_memory();
    }
    fill_scores(model, scores, &least);
    const tapml_status status =
        unigram_create(&(struct unigram_options){.vocabulary = model->parts->vocabulary,
                                                 .scores = scores,
                                                 .score_count = model->count,
                                                 .unknown_score = least - unknown_penalty,
                                                 .unknown_id = model->unknown,
                                                 .byte_ids = byte_ids(model),
                                                 .is_single = 1},
                       &model->parts->encoder);
    alloc_free(scores);
    return status;
}

static tapml_status create_model(struct sentencepiece_model *model)
{
    if (model->unknown >= (int64_t)model->count) {
        return broken(model, "found an unk_id that is that of no piece");
    }
    if (model->type == TYPE_UNIGRAM) {
        return create_unigram(model);
    }
    if (model->type == TYPE_BPE) {
        return create_bpe(model);
    }
    return status_fail(TAPML_INVALID, "%s: model type %llu is unsupported", model->parts->name,
                       (unsigned long long)model->type);
}

static tapml_status fill_kinds(struct sentencepiece_model *model)
{
    struct parts *parts = model->parts;
    parts->kinds = alloc_new(model->count);
    if (!parts->kinds) {
        return status_no_memory();
    }
    parts->kind_count = model->count;
    for (size_t i = 0; i < model->count; ++i) {
        parts->kinds[i] = model->types[i] == CONTROL   ? PARTS_CONTROL
                          : model->types[i] == UNKNOWN ? PARTS_UNKNOWN
                                                       : PARTS_PLAIN;
    }
    return TAPML_OK;
}

// The id of a piece that begins or ends a text, or -1.
static int32_t control_id(const struct sentencepiece_model *model, int32_t id)
{
    return id >= 0 && (size_t)id < model->count && model->types[id] == CONTROL ? id : -1;
}

static tapml_status read_all(struct sentencepiece_model *model, const void *bytes, size_t size)
{
    struct parts *parts = model->parts;
    struct normalizer_options *options = &model->normalizer;
    TAPML_TRY(vocabulary_create(parts->name, &parts->vocabulary));
    TAPML_TRY(read_fields(model, bytes, size));
    TAPML_TRY(find_wholes(model));
    options->whole = parts->whole;
    TAPML_TRY(normalizer_create_sentencepiece(parts->name, options, &parts->normalizer));
    TAPML_TRY(create_model(model));
    TAPML_TRY(fill_kinds(model));
    parts->begin = control_id(model, model->begin);
    parts->end = control_id(model, model->end);
    parts->adds_begin = 1;
    return decoder_create_sentencepiece(options->adds_space, options->removes_spaces,
                                        &parts->decoder);
}

tapml_status sentencepiece_read(const void *bytes, size_t size, struct parts *parts)
{
    struct sentencepiece_model model = {
        .parts = parts,
        .type = TYPE_UNIGRAM,
        .begin = 1,
        .end = 2,
        .normalizer = {.removes_spaces = 1, .adds_space = 1, .escapes_spaces = 1},
    };
    const tapml_status status = read_all(&model, bytes, size);
    alloc_free(model.scores);
    alloc_free(model.types);
    return status;
}

int sentencepiece_is(const void *bytes, size_t size)
{
    // Field 1, a message: no character of base64.
    return size > 0 && *(const unsigned char *)bytes == (MODEL_PIECES << 3 | 2);
}
