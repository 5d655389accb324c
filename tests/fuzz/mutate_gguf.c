// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A GGUF file: a header with two counts, keys with their values, tensors, data. A walk finds its
// fields; one of them becomes another number, a text gets other letters and its length, a key goes
// or comes twice, and the count with it.
#include "mutate.h"

#include <string.h>

enum {
    FIELDS_MAX = 512,
    HEADER_BYTES = 24,
    TENSORS_AT = 8,
    KEYS_AT = 16,
    TEXT = 8,
    ARRAY = 9,
    TYPES = 13,
    ITEMS_MAX = 16, // Of an array, that are looked at.
    PIECE_BYTES = 4096
};

enum kind { KIND_NUMBER, KIND_TYPE, KIND_TEXT, KIND_KEY };

struct field {
    size_t at, bytes; // Of a text, without its length.
    enum kind kind;
};

struct walk {
    const uint8_t *data;
    size_t size, at;
    struct field fields[FIELDS_MAX];
    size_t count;
    int is_over; // The file ends within a field.
};

static uint64_t take(struct walk *walk, size_t bytes, enum kind kind)
{
    if (walk->is_over || bytes > walk->size - walk->at) {
        walk->is_over = 1;
        return 0;
    }
    if (walk->count < FIELDS_MAX) {
        walk->fields[walk->count++] = (struct field){walk->at, bytes, kind};
    }
    walk->at += bytes;
    return kind == KIND_TEXT ? 0 : mutation_take(walk->data + walk->at - bytes, bytes);
}

static void take_text(struct walk *walk)
{
    const uint64_t length = take(walk, 8, KIND_NUMBER);
    if (length > walk->size - walk->at) {
        walk->is_over = 1;
        return;
    }
    (void)take(walk, (size_t)length, KIND_TEXT);
}

static size_t type_bytes(uint64_t type)
{
    static const uint8_t bytes[TYPES] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
    return type < TYPES ? bytes[type] : 0;
}

static void take_value(struct walk *walk, uint64_t type)
{
    if (type == TEXT) {
        take_text(walk);
    } else if (type == ARRAY) {
        const uint64_t item = take(walk, 4, KIND_TYPE);
        const uint64_t count = take(walk, 8, KIND_NUMBER);
        for (uint64_t i = 0; i < count && !walk->is_over; i++) {
            const size_t before = walk->count;
            if (item == ARRAY || (type_bytes(item) == 0 && item != TEXT)) {
                walk->is_over = 1; // Not looked into.
            } else if (item == TEXT) {
                take_text(walk);
            } else {
                (void)take(walk, type_bytes(item), KIND_NUMBER);
            }
            walk->count = i < ITEMS_MAX ? walk->count : before;
        }
    } else if (type_bytes(type) > 0) {
        (void)take(walk, type_bytes(type), KIND_NUMBER);
    } else {
        walk->is_over = 1;
    }
}

static void walk_keys(struct walk *walk, uint64_t count)
{
    for (uint64_t i = 0; i < count && !walk->is_over; i++) {
        const size_t begin = walk->at, field = walk->count;
        take_text(walk);
        take_value(walk, take(walk, 4, KIND_TYPE));
        if (!walk->is_over && field < FIELDS_MAX && walk->count < FIELDS_MAX) {
            walk->fields[walk->count++] = (struct field){begin, walk->at - begin, KIND_KEY};
        }
    }
}

static void walk_tensors(struct walk *walk, uint64_t count)
{
    for (uint64_t i = 0; i < count && !walk->is_over; i++) {
        take_text(walk);
        const uint64_t rank = take(walk, 4, KIND_NUMBER);
        for (uint64_t axis = 0; axis < rank && axis < 8; axis++) {
            (void)take(walk, 8, KIND_NUMBER);
        }
        (void)take(walk, 4, KIND_TYPE);
        (void)take(walk, 8, KIND_NUMBER);
    }
}

static size_t change_key(
    struct mutation *mutation, uint8_t *data, size_t size, size_t max_size, const struct field *key)
{
    uint8_t piece[PIECE_BYTES];
    const uint64_t count = mutation_take(data + KEYS_AT, 8);
    if (mutation_below(mutation, 2) || key->bytes > sizeof(piece) || key->bytes > max_size - size) {
        mutation_put(data + KEYS_AT, 8, count - 1);
        return mutation_resize(data, size, key->at, key->bytes, 0);
    }
    memcpy(piece, data + key->at, key->bytes);
    size = mutation_resize(data, size, key->at, 0, key->bytes);
    memcpy(data + key->at, piece, key->bytes);
    mutation_put(data + KEYS_AT, 8, count + 1);
    return size;
}

static size_t change(struct mutation *mutation,
                     uint8_t *data,
                     size_t size,
                     size_t max_size,
                     const struct field *field)
{
    size_t length = field->bytes;
    switch (field->kind) {
    case KIND_NUMBER:
        mutation_put(data + field->at, field->bytes, mutation_number(mutation));
        return size;
    case KIND_TYPE:
        mutation_put(data + field->at, field->bytes, mutation_below(mutation, 48));
        return size;
    case KIND_TEXT:
        size = mutation_of_span(data, size, max_size, field->at, field->bytes, &length);
        mutation_put(data + field->at - 8, 8, length);
        return size;
    case KIND_KEY:
        return change_key(mutation, data, size, max_size, field);
    }
    return size;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
    static struct walk walk; // Too large for a stack; one thread mutates.
    struct mutation mutation = mutation_begin(seed);
    if (size < HEADER_BYTES || mutation_below(&mutation, 8) == 0) {
        return LLVMFuzzerMutate(data, size, max_size);
    }
    walk = (struct walk){.data = data, .size = size, .at = HEADER_BYTES};
    walk.fields[walk.count++] = (struct field){4, 4, KIND_NUMBER};
    walk.fields[walk.count++] = (struct field){TENSORS_AT, 8, KIND_NUMBER};
    walk.fields[walk.count++] = (struct field){KEYS_AT, 8, KIND_NUMBER};
    walk_keys(&walk, mutation_take(data + KEYS_AT, 8));
    walk_tensors(&walk, mutation_take(data + TENSORS_AT, 8));
    return change(&mutation, data, size, max_size,
                  &walk.fields[mutation_below(&mutation, walk.count)]);
}
