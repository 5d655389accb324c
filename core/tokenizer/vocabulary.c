// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "tokenizer/vocabulary.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTE_COUNT = 256, SLOTS_MIN = 64, TOKENS_MAX = 1 << 24 };

struct vocabulary {
    const char *name;
    struct arena *arena;
    struct vocabulary_token *tokens; // By id once it is finished.
    size_t count, capacity;
    uint32_t *slots; // Of an open hash table: the position of a token + 1, or 0.
    size_t slot_count;
    int32_t byte_ids[BYTE_COUNT];
    int has_bytes; // All of them.
};

tapml_status vocabulary_create(const char *name, struct vocabulary **out_vocabulary)
{
    struct vocabulary *vocabulary = alloc_new(sizeof(*vocabulary));
    if (!vocabulary) {
        return status_no_memory();
    }
    vocabulary->arena = arena_create();
    vocabulary->name = vocabulary->arena ? arena_text(vocabulary->arena, name) : NULL;
    if (!vocabulary->name) {
        vocabulary_destroy(vocabulary);
        return status_no_memory();
    }
    *out_vocabulary = vocabulary;
    return TAPML_OK;
}

void vocabulary_destroy(struct vocabulary *vocabulary)
{
    if (vocabulary) {
        alloc_free(vocabulary->slots);
        alloc_free(vocabulary->tokens);
        arena_destroy(vocabulary->arena);
        alloc_free(vocabulary);
    }
}

// The slot of a spelling, or the free one where it belongs. There always is a free one.
static uint32_t *slot_of(const struct vocabulary *vocabulary, const char *bytes, size_t length)
{
    size_t at = (size_t)hash_bytes(bytes, length).low & (vocabulary->slot_count - 1);
    while (vocabulary->slots[at] != 0) {
        const struct vocabulary_token *token = &vocabulary->tokens[vocabulary->slots[at] - 1];
        if (token->length == length && memcmp(token->bytes, bytes, length) == 0) {
            break;
        }
        at = (at + 1) & (vocabulary->slot_count - 1);
    }
    return &vocabulary->slots[at];
}

static tapml_status fill_slots(struct vocabulary *vocabulary, size_t slot_count)
{
    uint32_t *slots = alloc_array(slot_count, sizeof(*slots));
    if (!slots) {
        return status_no_memory();
    }
    alloc_free(vocabulary->slots);
    vocabulary->slots = slots;
    vocabulary->slot_count = slot_count;
    for (size_t i = 0; i < vocabulary->count; ++i) {
        const struct vocabulary_token *token = &vocabulary->tokens[i];
        uint32_t *slot = slot_of(vocabulary, token->bytes, token->length);
        *slot = *slot == 0 ? (uint32_t)i + 1 : *slot;
    }
    return TAPML_OK;
}

tapml_status
vocabulary_add(struct vocabulary *vocabulary, const char *bytes, size_t length, int64_t id)
{
    if (id < 0 || id > INT32_MAX || length > VOCABULARY_BYTES_MAX ||
        vocabulary->count == TOKENS_MAX) {
        return status_fail(TAPML_INVALID,
                           "%s: token '%.64s': expected an id of 31 bits, at most %d bytes and at "
                           "most %d tokens",
                           vocabulary->name, bytes, VOCABULARY_BYTES_MAX, TOKENS_MAX);
    }
    if (vocabulary->count * 2 >= vocabulary->slot_count) {
        const size_t before = vocabulary->slot_count;
        TAPML_TRY(fill_slots(vocabulary, before > 0 ? before * 4 : SLOTS_MIN));
    }
    char *copy = arena_new(vocabulary->arena, length + 1);
    if (!copy || !alloc_grow((void **)&vocabulary->tokens, &vocabulary->capacity, vocabulary->count,
                             sizeof(*vocabulary->tokens))) {
        return status_no_memory();
    }
    memcpy(copy, bytes, length);
    vocabulary->tokens[vocabulary->count++] =
        (struct vocabulary_token){.bytes = copy, .length = (uint32_t)length, .id = (int32_t)id};
    uint32_t *slot = slot_of(vocabulary, copy, length);
    *slot = *slot == 0 ? (uint32_t)vocabulary->count : *slot;
    return TAPML_OK;
}

tapml_status vocabulary_add_object(struct vocabulary *vocabulary, const json_t *object)
{
    // jansson's loops want an object that they could change.
    json_t *members = (json_t *)(uintptr_t)object;
    if (!json_is_object(object)) {
        return status_fail(TAPML_INVALID, "%s: expected an object 'vocab'", vocabulary->name);
    }
    for (void *at = json_object_iter(members); at; at = json_object_iter_next(members, at)) {
        const char *spelling = json_object_iter_key(at);
        const json_t *id = json_object_iter_value(at);
        TAPML_TRY(vocabulary_add(vocabulary, spelling, strlen(spelling),
                                 json_is_integer(id) ? json_integer_value(id) : -1));
    }
    return TAPML_OK;
}

static int compare_ids(const void *a, const void *b)
{
    const struct vocabulary_token *x = a;
    const struct vocabulary_token *y = b;
    return x->id < y->id ? -1 : x->id > y->id;
}

static void find_bytes(struct vocabulary *vocabulary)
{
    vocabulary->has_bytes = 1;
    for (int byte = 0; byte < BYTE_COUNT; ++byte) {
        char spelling[16];
        (void)snprintf(spelling, sizeof(spelling), "<0x%02X>", (unsigned)byte);
        vocabulary->byte_ids[byte] = vocabulary_find_text(vocabulary, spelling);
        vocabulary->has_bytes =
            vocabulary->has_bytes && vocabulary->byte_ids[byte] != VOCABULARY_NONE;
    }
}

tapml_status vocabulary_finish(struct vocabulary *vocabulary)
{
    if (vocabulary->count == 0) {
        return status_fail(TAPML_INVALID, "%s: expected a vocabulary, found no token",
                           vocabulary->name);
    }
    int is_sorted = 1;
    for (size_t i = 1; i < vocabulary->count && is_sorted; ++i) {
        is_sorted = vocabulary->tokens[i - 1].id < vocabulary->tokens[i].id;
    }
    if (is_sorted) { // As in most files.
        find_bytes(vocabulary);
        return TAPML_OK;
    }
    qsort(vocabulary->tokens, vocabulary->count, sizeof(*vocabulary->tokens), compare_ids);
    for (size_t i = 1; i < vocabulary->count; ++i) {
        const struct vocabulary_token *token = &vocabulary->tokens[i];
        if (token->id == token[-1].id) {
            return status_fail(TAPML_INVALID,
                               "%s: expected one token for each id, found '%.64s' and '%.64s' "
                               "for %d",
                               vocabulary->name, token[-1].bytes, token->bytes, token->id);
        }
    }
    TAPML_TRY(fill_slots(vocabulary, vocabulary->slot_count));
    find_bytes(vocabulary);
    return TAPML_OK;
}

int32_t vocabulary_find(const struct vocabulary *vocabulary, const char *bytes, size_t length)
{
    if (length > VOCABULARY_BYTES_MAX || vocabulary->slot_count == 0) {
        return VOCABULARY_NONE;
    }
    const uint32_t slot = *slot_of(vocabulary, bytes, length);
    return slot > 0 ? vocabulary->tokens[slot - 1].id : VOCABULARY_NONE;
}

int32_t vocabulary_find_text(const struct vocabulary *vocabulary, const char *text)
{
    return vocabulary_find(vocabulary, text, strlen(text));
}

const struct vocabulary_token *vocabulary_get(const struct vocabulary *vocabulary, int32_t id)
{
    const struct vocabulary_token key = {.id = id};
    return bsearch(&key, vocabulary->tokens, vocabulary->count, sizeof(key), compare_ids);
}

const struct vocabulary_token *vocabulary_all(const struct vocabulary *vocabulary,
                                              size_t *out_count)
{
    *out_count = vocabulary->count;
    return vocabulary->tokens;
}

const int32_t *vocabulary_byte_ids(const struct vocabulary *vocabulary)
{
    return vocabulary->has_bytes ? vocabulary->byte_ids : NULL;
}
