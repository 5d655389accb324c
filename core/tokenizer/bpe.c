// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "tokenizer/bpe.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/table.h"
#include "tokenizer/byte_level.h"

#include <stdlib.h>
#include <string.h>

enum { NO_ID = -1, PIECE_LENGTH_MAX = 1 << 28 };

struct bpe_token {
    int32_t id;
    const char *bytes;
    size_t length;
};

// What becomes of two neighbours; an open hash table of these finds it.
struct merge {
    uint64_t pair; // left << 32 | right
    int32_t rank;
    int32_t id; // Of the two together; NO_ID: a free entry.
};

struct bpe {
    const char *name;
    struct arena *arena;
    struct bpe_token *tokens; // By id.
    size_t token_count;
    struct merge *merges;
    size_t merge_capacity; // A power of two, more than the merges are.
    int32_t byte_ids[256];
    int takes_whole_pieces; // "ignore_merges"
    struct table spellings; // Tokens as they stand in the file, where whole pieces are taken.
};

// A stretch of the piece while it is merged.
struct bpe_symbol {
    int32_t id; // NO_ID: merged into the one before.
    int32_t previous;
    int32_t next; // -1: none
};

struct bpe_candidate {
    uint64_t order; // rank << 32 | position
    int32_t left, right;
    int32_t id;
};

static tapml_status check_options(const char *name, const json_t *model)
{
    static const char *const texts[] = {"continuing_subword_prefix", "end_of_word_suffix"};
    for (size_t i = 0; i < 2; ++i) {
        const char *value = json_string_value(json_object_get(model, texts[i]));
        if (value && *value) {
            return status_fail(TAPML_INVALID, "%s: %s '%s' is unsupported", name, texts[i], value);
        }
    }
    if (json_number_value(json_object_get(model, "dropout")) > 0) {
        return status_fail(TAPML_INVALID, "%s: dropout of merges is unsupported", name);
    }
    return TAPML_OK;
}

static int compare_tokens(const void *a, const void *b)
{
    const struct bpe_token *x = a;
    const struct bpe_token *y = b;
    return x->id < y->id ? -1 : x->id > y->id;
}

static tapml_status id_of(const char *name, const json_t *value, const char *token, int32_t *out_id)
{
    const json_int_t id = json_integer_value(value);
    if (!json_is_integer(value) || id < 0 || id > INT32_MAX) {
        return status_fail(TAPML_INVALID, "%s: expected an id of 31 bits for token '%s'", name,
                           token);
    }
    *out_id = (int32_t)id;
    return TAPML_OK;
}

static tapml_status
add_token(struct bpe *bpe, struct text *scratch, const char *spelling, int32_t id)
{
    text_clear(scratch);
    const int is_bytes = byte_level_read(scratch, spelling);
    TAPML_TRY(text_status(scratch));
    char *bytes = arena_new(bpe->arena, scratch->length + 1);
    if (!bytes) {
        return status_no_memory();
    }
    memcpy(bytes, scratch->data, scratch->length);
    bpe->tokens[bpe->token_count++] =
        (struct bpe_token){.id = id, .bytes = bytes, .length = scratch->length};
    if (is_bytes && scratch->length == 1) {
        bpe->byte_ids[(unsigned char)bytes[0]] = id;
    }
    return bpe->takes_whole_pieces ? table_set(&bpe->spellings, spelling, (size_t)id) : TAPML_OK;
}

static tapml_status read_vocabulary(struct bpe *bpe, const json_t *vocab, struct text *scratch)
{
    const size_t count = json_object_size(vocab);
    if (count == 0) {
        return status_fail(TAPML_INVALID, "%s: expected an object 'vocab'", bpe->name);
    }
    bpe->tokens = arena_array(bpe->arena, count, sizeof(*bpe->tokens));
    if (!bpe->tokens) {
        return status_no_memory();
    }
    for (size_t i = 0; i < 256; ++i) {
        bpe->byte_ids[i] = NO_ID;
    }
    // jansson's loops want an object that they could change.
    void *at = json_object_iter((json_t *)(uintptr_t)vocab);
    while (at) {
        int32_t id = 0;
        const char *spelling = json_object_iter_key(at);
        TAPML_TRY(id_of(bpe->name, json_object_iter_value(at), spelling, &id));
        TAPML_TRY(add_token(bpe, scratch, spelling, id));
        at = json_object_iter_next((json_t *)(uintptr_t)vocab, at);
    }
    qsort(bpe->tokens, bpe->token_count, sizeof(*bpe->tokens), compare_tokens);
    return TAPML_OK;
}

// A byte without a token is left out, unless the file says what to put in its place.
static tapml_status check_bytes(const struct bpe *bpe, const json_t *model)
{
    const int has_other = json_is_string(json_object_get(model, "unk_token")) ||
                          json_is_true(json_object_get(model, "byte_fallback"));
    for (size_t i = 0; i < 256 && has_other; ++i) {
        if (bpe->byte_ids[i] == NO_ID) {
            return status_fail(TAPML_INVALID,
                               "%s: unk_token and byte_fallback are unsupported where a byte "
                               "(0x%02zx) has no token",
                               bpe->name, i);
        }
    }
    return TAPML_OK;
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

// The two halves of a merge, "a b" or ["a", "b"]; `scratch` holds the first.
static const char *halves_of(const json_t *merge, struct text *scratch)
{
    const char *joined = json_string_value(merge);
    const char *space = joined ? strchr(joined, ' ') : NULL;
    text_clear(scratch);
    if (space) {
        text_append_bytes(scratch, joined, (size_t)(space - joined));
        return space + 1;
    }
    const char *left = json_string_value(json_array_get(merge, 0));
    const char *right = json_string_value(json_array_get(merge, 1));
    text_append(scratch, left ? left : "");
    return left && json_array_size(merge) == 2 ? right : NULL;
}

static tapml_status
add_merge(struct bpe *bpe, const json_t *vocab, const json_t *merge, size_t rank, struct text *left)
{
    const char *right = halves_of(merge, left);
    TAPML_TRY(text_status(left));
    if (!right) {
        return status_fail(TAPML_INVALID, "%s: expected two tokens as merge %zu", bpe->name, rank);
    }
    const json_t *left_id = json_object_get(vocab, left->data);
    const json_t *right_id = json_object_get(vocab, right);
    text_append(left, right);
    TAPML_TRY(text_status(left));
    const json_t *both_id = json_object_get(vocab, left->data);
    if (!left_id || !right_id || !both_id) {
        return status_fail(TAPML_INVALID,
                           "%s: merge %zu makes '%s': expected it and its parts in the vocabulary",
                           bpe->name, rank, left->data);
    }
    const uint64_t pair =
        pair_of((int32_t)json_integer_value(left_id), (int32_t)json_integer_value(right_id));
    *merge_of(bpe, pair) = (struct merge){
        .pair = pair, .rank = (int32_t)rank, .id = (int32_t)json_integer_value(both_id)};
    return TAPML_OK;
}

static tapml_status read_merges(struct bpe *bpe, const json_t *model, struct text *scratch)
{
    const json_t *vocab = json_object_get(model, "vocab");
    const json_t *merges = json_object_get(model, "merges");
    const size_t count = json_array_size(merges);
    if (!json_is_array(merges) || count > INT32_MAX) {
        return status_fail(TAPML_INVALID, "%s: expected an array 'merges'", bpe->name);
    }
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
    for (size_t rank = 0; rank < count; ++rank) {
        TAPML_TRY(add_merge(bpe, vocab, json_array_get(merges, rank), rank, scratch));
    }
    return TAPML_OK;
}

static tapml_status read_model(struct bpe *bpe, const json_t *model, struct text *scratch)
{
    TAPML_TRY(check_options(bpe->name, model));
    bpe->takes_whole_pieces = json_is_true(json_object_get(model, "ignore_merges"));
    TAPML_TRY(read_vocabulary(bpe, json_object_get(model, "vocab"), scratch));
    TAPML_TRY(check_bytes(bpe, model));
    return read_merges(bpe, model, scratch);
}

tapml_status bpe_create(const char *name, const json_t *model, struct bpe **out_bpe)
{
    struct bpe *bpe = alloc_new(sizeof(*bpe));
    if (!bpe) {
        return status_no_memory();
    }
    struct text scratch;
    text_init(&scratch);
    table_init(&bpe->spellings);
    bpe->arena = arena_create();
    bpe->name = bpe->arena ? arena_text(bpe->arena, name) : NULL;
    const tapml_status status = bpe->name ? read_model(bpe, model, &scratch) : status_no_memory();
    text_release(&scratch);
    if (status != TAPML_OK) {
        bpe_destroy(bpe);
        return status;
    }
    *out_bpe = bpe;
    return TAPML_OK;
}

void bpe_destroy(struct bpe *bpe)
{
    if (bpe) {
        table_release(&bpe->spellings);
        alloc_free(bpe->merges);
        arena_destroy(bpe->arena);
        alloc_free(bpe);
    }
}

const char *bpe_bytes(const struct bpe *bpe, int32_t id, size_t *out_length)
{
    const struct bpe_token key = {.id = id};
    const struct bpe_token *token =
        bsearch(&key, bpe->tokens, bpe->token_count, sizeof(key), compare_tokens);
    if (!token) {
        return NULL;
    }
    *out_length = token->length;
    return token->bytes;
}

void bpe_work_init(struct bpe_work *work)
{
    *work = (struct bpe_work){0};
    text_init(&work->spelling);
}

void bpe_work_release(struct bpe_work *work)
{
    alloc_free(work->symbols);
    alloc_free(work->heap);
    text_release(&work->spelling);
    bpe_work_init(work);
}

static tapml_status reserve(struct bpe_work *work, size_t length)
{
    if (length <= work->capacity) {
        return TAPML_OK;
    }
    size_t capacity = work->capacity > 0 ? work->capacity : 64;
    while (capacity < length) {
        capacity *= 2;
    }
    bpe_work_release(work);
    // Every merge takes one candidate and adds at most two, and there are fewer merges than bytes.
    work->symbols = alloc_array(capacity, sizeof(*work->symbols));
    work->heap = alloc_array(capacity * 2, sizeof(*work->heap));
    if (!work->symbols || !work->heap) {
        bpe_work_release(work);
        return status_no_memory();
    }
    work->capacity = capacity;
    return TAPML_OK;
}

static void swap(struct bpe_candidate *a, struct bpe_candidate *b)
{
    const struct bpe_candidate kept = *a;
    *a = *b;
    *b = kept;
}

static void heap_add(struct bpe_candidate *heap, size_t *count, struct bpe_candidate candidate)
{
    size_t at = (*count)++;
    heap[at] = candidate;
    while (at > 0 && heap[at].order < heap[(at - 1) / 2].order) {
        swap(&heap[at], &heap[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
}

static struct bpe_candidate heap_take(struct bpe_candidate *heap, size_t *count)
{
    const struct bpe_candidate least = heap[0];
    const size_t left = --*count;
    heap[0] = heap[left];
    for (size_t at = 0;;) {
        size_t child = at * 2 + 1;
        if (child + 1 < left && heap[child + 1].order < heap[child].order) {
            ++child;
        }
        if (child >= left || heap[at].order <= heap[child].order) {
            return least;
        }
        swap(&heap[at], &heap[child]);
        at = child;
    }
}

// Adds the pair that begins at `position` to the candidates, if a merge is known for it.
static void
consider(const struct bpe *bpe, struct bpe_work *work, size_t *heap_count, int32_t position)
{
    const struct bpe_symbol *symbol = position >= 0 ? &work->symbols[position] : NULL;
    if (!symbol || symbol->next < 0) {
        return;
    }
    const int32_t right = work->symbols[symbol->next].id;
    const struct merge *merge = merge_of(bpe, pair_of(symbol->id, right));
    if (merge->id == NO_ID) {
        return;
    }
    heap_add(work->heap, heap_count,
             (struct bpe_candidate){.order = (uint64_t)merge->rank << 32 | (uint32_t)position,
                                    .left = symbol->id,
                                    .right = right,
                                    .id = merge->id});
}

static void merge_all(const struct bpe *bpe, struct bpe_work *work, size_t count)
{
    struct bpe_symbol *symbols = work->symbols;
    size_t heap_count = 0;
    for (size_t i = 0; i < count; ++i) {
        consider(bpe, work, &heap_count, (int32_t)i);
    }
    while (heap_count > 0) {
        const struct bpe_candidate best = heap_take(work->heap, &heap_count);
        const int32_t position = (int32_t)(uint32_t)best.order;
        struct bpe_symbol *left = &symbols[position];
        // A candidate is stale where one of its halves has been merged since.
        if (left->id != best.left || left->next < 0 || symbols[left->next].id != best.right) {
            continue;
        }
        struct bpe_symbol *right = &symbols[left->next];
        right->id = NO_ID;
        left->id = best.id;
        left->next = right->next;
        if (left->next >= 0) {
            symbols[left->next].previous = position;
        }
        consider(bpe, work, &heap_count, left->previous);
        consider(bpe, work, &heap_count, position);
    }
}

// One symbol for each byte that has a token. Returns how many there are.
static size_t split(const struct bpe *bpe, struct bpe_work *work, const char *piece, size_t length)
{
    size_t count = 0;
    for (size_t i = 0; i < length; ++i) {
        const int32_t id = bpe->byte_ids[(unsigned char)piece[i]];
        if (id != NO_ID) {
            const int32_t at = (int32_t)count++;
            work->symbols[at] = (struct bpe_symbol){.id = id, .previous = at - 1, .next = at + 1};
        }
    }
    if (count > 0) {
        work->symbols[count - 1].next = -1;
    }
    return count;
}

static tapml_status find_whole(
    const struct bpe *bpe, struct bpe_work *work, const char *piece, size_t length, int32_t *out_id)
{
    size_t id = 0;
    text_clear(&work->spelling);
    byte_level_write(&work->spelling, piece, length);
    TAPML_TRY(text_status(&work->spelling));
    *out_id = table_find(&bpe->spellings, work->spelling.data, &id) ? (int32_t)id : NO_ID;
    return TAPML_OK;
}

tapml_status bpe_encode(const struct bpe *bpe,
                        struct bpe_work *work,
                        const char *piece,
                        size_t length,
                        struct ids *out_ids)
{
    if (length > PIECE_LENGTH_MAX) {
        return status_fail(TAPML_INVALID, "expected pieces of at most %d bytes, found %zu",
                           PIECE_LENGTH_MAX, length);
    }
    TAPML_TRY(reserve(work, length));
    if (bpe->takes_whole_pieces) {
        int32_t whole = NO_ID;
        TAPML_TRY(find_whole(bpe, work, piece, length, &whole));
        if (whole != NO_ID) {
            return ids_add(out_ids, whole);
        }
    }
    const size_t count = split(bpe, work, piece, length);
    merge_all(bpe, work, count);
    for (int32_t at = count > 0 ? 0 : -1; at >= 0; at = work->symbols[at].next) {
        TAPML_TRY(ids_add(out_ids, work->symbols[at].id));
    }
    return TAPML_OK;
}
