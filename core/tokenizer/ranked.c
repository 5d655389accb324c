// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "tokenizer/ranked.h"

#include "base/alloc.h"
#include "base/utf8.h"
#include "tokenizer/prefixes.h"

#include <string.h>

enum { NO_ID = VOCABULARY_NONE, FROZEN = -2 };

struct ranked {
    struct ranked_options options;
    uint32_t *ranks;
};

static uint32_t rank_of(const struct ranked *ranked, int32_t id)
{
    return id >= 0 && (size_t)id < ranked->options.rank_count ? ranked->ranks[id] : RANKED_NEVER;
}

static int merge_pair(const void *user,
                      const struct merging *merging,
                      const struct merging_symbol *left,
                      const struct merging_symbol *right,
                      uint32_t *out_rank,
                      int32_t *out_id)
{
    const struct ranked *ranked = user;
    if (left->id <= FROZEN || right->id <= FROZEN) {
        return 0;
    }
    *out_id = vocabulary_find(ranked->options.vocabulary, merging->piece + left->begin,
                              (size_t)left->length + right->length);
    *out_rank = rank_of(ranked, *out_id);
    return *out_rank != RANKED_NEVER;
}

// Tokens that are cut out have an id below all others, from which their own follows.
static void split(const struct ranked *ranked, struct merging *merging, size_t length)
{
    const struct ranked_options *options = &ranked->options;
    for (size_t at = 0; at < length;) {
        const char *text = merging->piece + at;
        const struct vocabulary_token *whole =
            options->whole ? prefixes_longest(options->whole, text, length - at) : NULL;
        if (whole) {
            merging_add(merging, at, whole->length, FROZEN - whole->id);
            at += whole->length;
            continue;
        }
        uint32_t code = 0;
        const size_t count = options->is_bytes ? 1 : utf8_read(text, length - at, &code);
        const int32_t id = vocabulary_find(options->vocabulary, text, count);
        merging_add(merging, at, count, rank_of(ranked, id) != RANKED_NEVER ? id : NO_ID);
        at += count;
    }
}

static tapml_status add_bytes(const int32_t *byte_ids,
                              const struct merging *merging,
                              const struct merging_symbol *symbol,
                              struct ids *out_ids)
{
    for (size_t i = 0; i < symbol->length; ++i) {
        const unsigned char byte = (unsigned char)merging->piece[symbol->begin + i];
        TAPML_TRY(ids_add(out_ids, byte_ids[byte]));
    }
    return TAPML_OK;
}

static tapml_status add_symbol(const struct ranked *ranked,
                               const struct merging *merging,
                               const struct merging_symbol *symbol,
                               int *is_unknown,
                               struct ids *out_ids)
{
    const struct ranked_options *options = &ranked->options;
    const int was_unknown = *is_unknown;
    *is_unknown = 0;
    if (symbol->id != NO_ID) {
        return ids_add(out_ids, symbol->id <= FROZEN ? FROZEN - symbol->id : symbol->id);
    }
    if (options->byte_ids) {
        return add_bytes(options->byte_ids, merging, symbol, out_ids);
    }
    if (options->unknown_id == NO_ID) {
        return status_fail(TAPML_INVALID, "the tokenizer has no token for '%.*s'",
                           (int)symbol->length, merging->piece + symbol->begin);
    }
    *is_unknown = 1;
    return was_unknown ? TAPML_OK : ids_add(out_ids, options->unknown_id);
}

static tapml_status ranked_encode(const void *model,
                                  struct piece_work *work,
                                  const char *piece,
                                  size_t length,
                                  struct ids *out_ids)
{
    const struct ranked *ranked = model;
    struct merging *merging = &work->merging;
    int is_unknown = 0;
    if (ranked->options.takes_whole_pieces) {
        const int32_t whole = vocabulary_find(ranked->options.vocabulary, piece, length);
        if (rank_of(ranked, whole) != RANKED_NEVER) {
            return ids_add(out_ids, whole);
        }
    }
    TAPML_TRY(merging_start(merging, piece, length));
    split(ranked, merging, length);
    merging_run(merging, merge_pair, ranked);
    for (int32_t at = merging->count > 0 ? 0 : -1; at >= 0; at = merging->symbols[at].next) {
        TAPML_TRY(add_symbol(ranked, merging, &merging->symbols[at], &is_unknown, out_ids));
    }
    return TAPML_OK;
}

static void ranked_destroy(void *model)
{
    struct ranked *ranked = model;
    if (ranked) {
        alloc_free(ranked->ranks);
        alloc_free(ranked);
    }
}

static const struct piece_encoder_type ranked_type = {.encode = ranked_encode,
                                                      .destroy = ranked_destroy};

tapml_status ranked_create(const struct ranked_options *options, struct piece_encoder *out_encoder)
{
    struct ranked *ranked = alloc_new(sizeof(*ranked));
    if (!ranked) {
        return status_no_memory();
    }
    ranked->options = *options;
    ranked->ranks = alloc_array(options->rank_count, sizeof(*ranked->ranks));
    if (!ranked->ranks) {
        ranked_destroy(ranked);
        return status_no_memory();
    }
    memcpy(ranked->ranks, options->ranks, options->rank_count * sizeof(*ranked->ranks));
    *out_encoder = (struct piece_encoder){.type = &ranked_type, .model = ranked};
    return TAPML_OK;
}
