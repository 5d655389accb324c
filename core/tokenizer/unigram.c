// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "tokenizer/unigram.h"

#include "base/alloc.h"
#include "base/utf8.h"
#include "tokenizer/prefixes.h"

#include <math.h>
#include <string.h>

enum { NO_ID = VOCABULARY_NONE, LENGTH_MAX = 1 << 26 };

// The best way to a place of the text.
struct lattice_node {
    double score;
    uint32_t length; // Of its last token, in bytes; 0: no way yet, or the beginning.
    int32_t id;
};

struct unigram {
    struct unigram_options options;
    double *scores;
    struct prefixes *prefixes;
};

static void unigram_destroy(void *model)
{
    struct unigram *unigram = model;
    if (unigram) {
        prefixes_destroy(unigram->prefixes);
        alloc_free(unigram->scores);
        alloc_free(unigram);
    }
}

static tapml_status reserve(struct piece_work *work, size_t length)
{
    if (length > LENGTH_MAX) {
        return status_fail(TAPML_INVALID, "expected pieces of at most %d bytes, found %zu",
                           LENGTH_MAX, length);
    }
    if (length + 1 > work->node_capacity) {
        size_t capacity = 256;
        while (capacity < length + 1) {
            capacity *= 2;
        }
        alloc_free(work->nodes);
        work->node_capacity = 0;
        work->nodes = alloc_array(capacity, sizeof(*work->nodes));
        if (!work->nodes) {
            return status_no_memory();
        }
        work->node_capacity = capacity;
    }
    memset(work->nodes, 0, (length + 1) * sizeof(*work->nodes));
    return TAPML_OK;
}

// A way by one more token, if it is better than that which is known.
static void relax(const struct unigram *unigram,
                  const struct lattice_node *from,
                  size_t length,
                  double score,
                  int32_t id)
{
    struct lattice_node *node = (struct lattice_node *)(uintptr_t)from + length;
    const double sum = from->score + score;
    const double rounded = unigram->options.is_single ? (double)(float)sum : sum;
    if (node->length == 0 || rounded > node->score) {
        *node = (struct lattice_node){.score = rounded, .length = (uint32_t)length, .id = id};
    }
}

static double score_of(const struct unigram *unigram, int32_t id)
{
    return id >= 0 && (size_t)id < unigram->options.score_count ? unigram->scores[id] : NAN;
}

// All tokens that begin at a place, and the character there if it is not one of them.
static void
relax_all(const struct unigram *unigram, struct lattice_node *node, const char *text, size_t left)
{
    struct prefixes_walk walk;
    uint32_t code = 0;
    int is_token = 0;
    const size_t character = utf8_read(text, left, &code);
    prefixes_start(unigram->prefixes, &walk);
    for (size_t i = 0; i < left; ++i) {
        if (!prefixes_step(unigram->prefixes, &walk, (unsigned char)text[i])) {
            break;
        }
        const struct vocabulary_token *token = prefixes_match(unigram->prefixes, &walk);
        const double score = token ? score_of(unigram, token->id) : NAN;
        if (token && !isnan(score)) {
            is_token = is_token || i + 1 == character;
            relax(unigram, node, i + 1, score, token->id);
        }
    }
    if (!is_token) {
        relax(unigram, node, character, unigram->options.unknown_score,
              unigram->options.unknown_id);
    }
}

// Turns the links, which lead from the end to the beginning, around.
static void turn(struct lattice_node *nodes, size_t length)
{
    struct lattice_node next = nodes[length];
    for (size_t at = length; at > 0;) {
        const size_t begin = at - next.length;
        const struct lattice_node kept = nodes[begin];
        nodes[begin].length = next.length;
        nodes[begin].id = next.id;
        next = kept;
        at = begin;
    }
}

static tapml_status
add_unknown(const struct unigram *unigram, const char *text, size_t length, struct ids *out_ids)
{
    const struct unigram_options *options = &unigram->options;
    const int32_t whole =
        options->finds_unknown ? vocabulary_find(options->vocabulary, text, length) : NO_ID;
    if (whole != NO_ID) {
        return ids_add(out_ids, whole);
    }
    for (size_t i = 0; i < length && options->byte_ids; ++i) {
        TAPML_TRY(ids_add(out_ids, options->byte_ids[(unsigned char)text[i]]));
    }
    if (options->byte_ids) {
        return TAPML_OK;
    }
    return options->unknown_id != NO_ID
               ? ids_add(out_ids, options->unknown_id)
               : status_fail(TAPML_INVALID, "the tokenizer has no token for '%.*s'",
                             (int)(length < 32 ? length : 32), text);
}

static tapml_status unigram_encode(const void *model,
                                   struct piece_work *work,
                                   const char *piece,
                                   size_t length,
                                   struct ids *out_ids)
{
    const struct unigram *unigram = model;
    TAPML_TRY(reserve(work, length));
    for (size_t at = 0; at < length; ++at) {
        if (at == 0 || work->nodes[at].length > 0) {
            relax_all(unigram, &work->nodes[at], piece + at, length - at);
        }
    }
    turn(work->nodes, length);
    for (size_t at = 0; at < length;) {
        size_t end = at;
        while (end < length && work->nodes[end].id == unigram->options.unknown_id) {
            end += work->nodes[end].length;
        }
        if (end > at) {
            TAPML_TRY(add_unknown(unigram, piece + at, end - at, out_ids));
            at = end;
        } else {
            TAPML_TRY(ids_add(out_ids, work->nodes[at].id));
            at += work->nodes[at].length;
        }
    }
    return TAPML_OK;
}

static const struct piece_encoder_type unigram_type = {.encode = unigram_encode,
                                                       .destroy = unigram_destroy};

tapml_status unigram_create(const struct unigram_options *options,
                            struct piece_encoder *out_encoder)
{
    size_t count = 0;
    const struct vocabulary_token *tokens = vocabulary_all(options->vocabulary, &count);
    struct unigram *unigram = alloc_new(sizeof(*unigram));
    if (!unigram) {
        return status_no_memory();
    }
    unigram->options = *options;
    unigram->scores = alloc_array(options->score_count, sizeof(*unigram->scores));
    tapml_status status =
        unigram->scores ? prefixes_create(tokens, count, &unigram->prefixes) : status_no_memory();
    if (status != TAPML_OK) {
        unigram_destroy(unigram);
        return status;
    }
    memcpy(unigram->scores, options->scores, options->score_count * sizeof(*unigram->scores));
    *out_encoder = (struct piece_encoder){.type = &unigram_type, .model = unigram};
    return TAPML_OK;
}
