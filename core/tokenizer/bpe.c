// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "tokenizer/bpe.h"

#include "base/alloc.h"
#include "base/json_file.h"
#include "base/utf8.h"

#include <string.h>

enum { NO_ID = VOCABULARY_NONE };

// What becomes of two neighbours; an open hash table of these finds it.
struct merge {
    uint64_t pair; // left << 32 | right
    uint32_t rank;
    int32_t id; // Of the two together; NO_ID: a free entry.
};

struct bpe {
    const struct vocabulary *vocabulary;
    const int32_t *byte_ids; // With byte fallback; or NULL.
    int32_t unknown_id;
    int has_unknown; // Else a character without a token is left out.
    int fuses_unknown;
    int takes_whole_pieces; // "ignore_merges"
    char *prefix;           // Of what does not begin a piece; or "".
    char *suffix;           // Of what ends a piece; or "".
    struct merge *merges;
    size_t merge_capacity; // A power of two, more than the merges are.
};

static void bpe_destroy(void *model)
{
    struct bpe *bpe = model;
    if (bpe) {
        alloc_free(bpe->merges);
        alloc_free(bpe->prefix);
        alloc_free(bpe->suffix);
        alloc_free(bpe);
    }
}

// -- Reading -----------------------------------------------------------------------------------

static char *copy_option(const json_t *model, const char *key)
{
    const char *value = json_string_value(json_object_get(model, key));
    return alloc_text(value ? value : "");
}

static tapml_status read_options(struct bpe *bpe, const char *name, const json_t *model)
{
    const char *unknown = json_string_value(json_object_get(model, "unk_token"));
    if (json_number_value(json_object_get(model, "dropout")) > 0) {
        return status_fail(TAPML_INVALID, "%s: dropout of merges is unsupported", name);
    }
    bpe->takes_whole_pieces = json_is_true(json_object_get(model, "ignore_merges"));
    bpe->fuses_unknown = json_is_true(json_object_get(model, "fuse_unk"));
    if (json_is_true(json_object_get(model, "byte_fallback"))) {
        bpe->byte_ids = vocabulary_byte_ids(bpe->vocabulary);
    }
    bpe->has_unknown = unknown != NULL;
    bpe->unknown_id = unknown ? vocabulary_find_text(bpe->vocabulary, unknown) : NO_ID;
    bpe->prefix = copy_option(model, "continuing_subword_prefix");
    bpe->suffix = copy_option(model, "end_of_word_suffix");
    return bpe->prefix && bpe->suffix ? TAPML_OK : status_no_memory();
}

static uint64_t pair_of(int32_t left, int32_t right)
{
    return (uint64_t)(uint32_t)left << 32 | (uint32_t)right;
}

// The entry of a pair, or the free one where it belongs. There always is a free one.
static struct merge *merge_of(const struct bpe *bpe, uint64_t pair)
{
    // Fibonacci hashing: the high bits of the product depend on all bits of the pair.
    const uint64_t product = pair * 0x9e3779b97f4a7c15u;
    size_t at = (size_t)(product ^ product >> 32) & (bpe->merge_capacity - 1);
    while (bpe->merges[at].id != NO_ID && bpe->merges[at].pair != pair) {
        at = (at + 1) & (bpe->merge_capacity - 1);
    }
    return &bpe->merges[at];
}

// A list of merges on its way into the table.
struct bpe_reading {
    struct bpe *bpe;
    const char *name;
    struct text both;
};

static tapml_status
add_merge(void *user, size_t rank, const struct text *left, const struct text *right)
{
    struct bpe_reading *reading = user;
    struct bpe *bpe = reading->bpe;
    struct text *both = &reading->both;
    const struct vocabulary *vocabulary = bpe->vocabulary;
    const size_t mark = strlen(bpe->prefix);
    const size_t skip = mark <= right->length ? mark : 0;
    const int32_t left_id = vocabulary_find(vocabulary, left->data, left->length);
    const int32_t right_id = vocabulary_find(vocabulary, right->data, right->length);
    // The mark of what does not begin a piece is on the second half, not within the two together.
    text_clear(both);
    text_append_bytes(both, left->data, left->length);
    text_append_bytes(both, right->data + skip, right->length - skip);
    TAPML_TRY(text_status(both));
    const int32_t both_id = vocabulary_find(vocabulary, both->data, both->length);
    if (left_id == NO_ID || right_id == NO_ID || both_id == NO_ID) {
        return status_fail(TAPML_INVALID,
                           "%s: merge %zu makes '%.64s': expected it and its parts in the "
                           "vocabulary",
                           reading->name, rank, both->data);
    }
    const uint64_t pair = pair_of(left_id, right_id);
    *merge_of(bpe, pair) = (struct merge){.pair = pair, .rank = (uint32_t)rank, .id = both_id};
    return TAPML_OK;
}

static tapml_status reserve_merges(struct bpe *bpe, size_t count)
{
    bpe->merge_capacity = 16;
    while (bpe->merge_capacity < count * 2) {
        bpe->merge_capacity *= 2;
    }
    bpe->merges = alloc_array(bpe->merge_capacity, sizeof(*bpe->merges));
    if (!bpe->merges) {
        return status_no_memory();
    }
    for (size_t i = 0; i < bpe->merge_capacity; ++i) {
        bpe->merges[i].id = NO_ID;
    }
    return TAPML_OK;
}

static tapml_status read_span(struct bpe_reading *reading, const struct listing_span *merges)
{
    size_t count = 0;
    TAPML_TRY(listing_read_merges(merges, reading->name, NULL, NULL, &count));
    TAPML_TRY(reserve_merges(reading->bpe, count));
    return listing_read_merges(merges, reading->name, add_merge, reading, &count);
}

// One reader for both: merges that are a tree are written as a text first.
static tapml_status read_merges(struct bpe *bpe,
                                const char *name,
                                const json_t *merges,
                                const struct listing_span *span)
{
    struct bpe_reading reading = {.bpe = bpe, .name = name};
    struct text dumped;
    if (!span && !json_is_array(merges)) {
        return status_fail(TAPML_INVALID, "%s: expected an array 'merges'", name);
    }
    text_init(&dumped);
    text_init(&reading.both);
    if (!span) {
        json_file_print(&dumped, merges, 0);
    }
    tapml_status status = text_status(&dumped);
    if (status == TAPML_OK) {
        const struct listing_span own = {.begin = dumped.data, .end = dumped.data + dumped.length};
        status = read_span(&reading, span ? span : &own);
    }
    text_release(&reading.both);
    text_release(&dumped);
    return status;
}

// -- Encoding ----------------------------------------------------------------------------------

static tapml_status no_token(const char *piece, size_t length)
{
    return status_fail(TAPML_INVALID, "the tokenizer has no token for '%.*s'",
                       (int)(length < 32 ? length : 32), piece);
}

static int merge_pair(const void *user,
                      const struct merging *merging,
                      const struct merging_symbol *left,
                      const struct merging_symbol *right,
                      uint32_t *out_rank,
                      int32_t *out_id)
{
    const struct merge *merge = merge_of(user, pair_of(left->id, right->id));
    *out_rank = merge->rank;
    *out_id = merge->id;
    return merge->id != NO_ID;
}

// The id of a character, with the marks that its place in the piece asks for.
static int32_t find_character(const struct bpe *bpe, const char *at, size_t count, int place)
{
    char marked[VOCABULARY_BYTES_MAX + 1];
    const char *prefix = place & 1 ? "" : bpe->prefix; // 1: begins the piece
    const char *suffix = place & 2 ? bpe->suffix : ""; // 2: ends it
    const size_t before = strlen(prefix);
    const size_t after = strlen(suffix);
    if (before + after == 0) {
        return vocabulary_find(bpe->vocabulary, at, count);
    }
    if (before + count + after > VOCABULARY_BYTES_MAX) {
        return NO_ID;
    }
    memcpy(marked, prefix, before);
    memcpy(marked + before, at, count);
    memcpy(marked + before + count, suffix, after);
    return vocabulary_find(bpe->vocabulary, marked, before + count + after);
}

static tapml_status
add_unknown(const struct bpe *bpe, struct merging *merging, size_t begin, size_t length)
{
    if (!bpe->has_unknown) {
        return TAPML_OK; // It is left out.
    }
    if (bpe->unknown_id == NO_ID) {
        return no_token(merging->piece + begin, length);
    }
    struct merging_symbol *last = merging->count > 0 ? &merging->symbols[merging->count - 1] : NULL;
    if (bpe->fuses_unknown && last && last->id == bpe->unknown_id) {
        last->length += (uint32_t)length;
    } else {
        merging_add(merging, begin, length, bpe->unknown_id);
    }
    return TAPML_OK;
}

// One symbol for each character, or one for each of its bytes.
static tapml_status split(const struct bpe *bpe, struct merging *merging, size_t length)
{
    for (size_t at = 0; at < length;) {
        uint32_t code = 0;
        const size_t count = utf8_read(merging->piece + at, length - at, &code);
        const int place = (at == 0 ? 1 : 0) | (at + count == length ? 2 : 0);
        const int32_t id = find_character(bpe, merging->piece + at, count, place);
        if (id != NO_ID) {
            merging_add(merging, at, count, id);
        } else if (bpe->byte_ids) {
            for (size_t i = 0; i < count; ++i) {
                merging_add(merging, at + i, 1,
                            bpe->byte_ids[(unsigned char)merging->piece[at + i]]);
            }
        } else {
            TAPML_TRY(add_unknown(bpe, merging, at, count));
        }
        at += count;
    }
    return TAPML_OK;
}

static tapml_status bpe_encode(const void *model,
                               struct piece_work *work,
                               const char *piece,
                               size_t length,
                               struct ids *out_ids)
{
    const struct bpe *bpe = model;
    struct merging *merging = &work->merging;
    const int32_t whole =
        bpe->takes_whole_pieces ? vocabulary_find(bpe->vocabulary, piece, length) : NO_ID;
    if (whole != NO_ID) {
        return ids_add(out_ids, whole);
    }
    TAPML_TRY(merging_start(merging, piece, length));
    TAPML_TRY(split(bpe, merging, length));
    merging_run(merging, merge_pair, bpe);
    for (int32_t at = merging->count > 0 ? 0 : -1; at >= 0; at = merging->symbols[at].next) {
        TAPML_TRY(ids_add(out_ids, merging->symbols[at].id));
    }
    return TAPML_OK;
}

static const struct piece_encoder_type listed_type = {.encode = bpe_encode, .destroy = bpe_destroy};

tapml_status bpe_create(const char *name,
                        const json_t *model,
                        const struct listing_span *merges,
                        const struct vocabulary *vocabulary,
                        struct piece_encoder *out_encoder)
{
    struct bpe *bpe = alloc_new(sizeof(*bpe));
    if (!bpe) {
        return status_no_memory();
    }
    bpe->vocabulary = vocabulary;
    tapml_status status = read_options(bpe, name, model);
    if (status == TAPML_OK) {
        status = read_merges(bpe, name, json_object_get(model, "merges"), merges);
    }
    if (status != TAPML_OK) {
        bpe_destroy(bpe);
        return status;
    }
    *out_encoder = (struct piece_encoder){.type = &listed_type, .model = bpe};
    return TAPML_OK;
}
