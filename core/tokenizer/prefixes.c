// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "tokenizer/prefixes.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

enum { BYTE_COUNT = 256 };

struct prefixes {
    const struct vocabulary_token **sorted; // By their bytes; a beginning of another before it.
    size_t count;
    size_t first[BYTE_COUNT + 1]; // Where the strings of a first byte begin.
};

static int compare(const void *a, const void *b)
{
    const struct vocabulary_token *x = *(const struct vocabulary_token *const *)a;
    const struct vocabulary_token *y = *(const struct vocabulary_token *const *)b;
    const size_t shared = x->length < y->length ? x->length : y->length;
    const int order = memcmp(x->bytes, y->bytes, shared);
    if (order != 0) {
        return order;
    }
    if (x->length != y->length) {
        return x->length < y->length ? -1 : 1;
    }
    return x < y ? -1 : x > y;
}

static int is_same(const struct vocabulary_token *a, const struct vocabulary_token *b)
{
    return a->length == b->length && memcmp(a->bytes, b->bytes, a->length) == 0;
}

// Sorts the strings, and keeps the first of equal ones: a step would have to pass over the others.
static void sort(struct prefixes *prefixes)
{
    size_t count = 0;
    qsort((void *)prefixes->sorted, prefixes->count, sizeof(*prefixes->sorted), compare);
    for (size_t i = 0; i < prefixes->count; ++i) {
        if (count == 0 || !is_same(prefixes->sorted[count - 1], prefixes->sorted[i])) {
            prefixes->sorted[count++] = prefixes->sorted[i];
        }
    }
    prefixes->count = count;
}

static unsigned char byte_at(const struct prefixes *prefixes, size_t index, size_t depth)
{
    return (unsigned char)prefixes->sorted[index]->bytes[depth];
}

tapml_status
prefixes_create(const struct vocabulary_token *tokens, size_t count, struct prefixes **out_prefixes)
{
    struct prefixes *prefixes = alloc_new(sizeof(*prefixes));
    if (!prefixes) {
        return status_no_memory();
    }
    prefixes->sorted = alloc_array(count > 0 ? count : 1, sizeof(*prefixes->sorted));
    if (!prefixes->sorted) {
        prefixes_destroy(prefixes);
        return status_no_memory();
    }
    for (size_t i = 0; i < count; ++i) {
        if (tokens[i].length > 0) {
            prefixes->sorted[prefixes->count++] = &tokens[i];
        }
    }
    sort(prefixes);
    size_t at = 0;
    for (size_t byte = 0; byte < BYTE_COUNT; ++byte) {
        prefixes->first[byte] = at;
        while (at < prefixes->count && byte_at(prefixes, at, 0) == byte) {
            ++at;
        }
    }
    prefixes->first[BYTE_COUNT] = at;
    *out_prefixes = prefixes;
    return TAPML_OK;
}

void prefixes_destroy(struct prefixes *prefixes)
{
    if (prefixes) {
        alloc_free((void *)prefixes->sorted);
        alloc_free(prefixes);
    }
}

void prefixes_start(const struct prefixes *prefixes, struct prefixes_walk *walk)
{
    *walk = (struct prefixes_walk){.first = 0, .end = prefixes->count};
}

// The first string of the walk, all of which are longer than its depth, whose byte there is at
// least `byte`.
static size_t bound(const struct prefixes *prefixes, const struct prefixes_walk *walk, int byte)
{
    size_t low = walk->first;
    size_t high = walk->end;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (byte_at(prefixes, middle, walk->depth) < byte) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

int prefixes_step(const struct prefixes *prefixes, struct prefixes_walk *walk, unsigned char byte)
{
    if (walk->depth == 0) {
        *walk = (struct prefixes_walk){
            .first = prefixes->first[byte], .end = prefixes->first[byte + 1], .depth = 1};
        return walk->first < walk->end;
    }
    if (walk->first < walk->end && prefixes->sorted[walk->first]->length == walk->depth) {
        ++walk->first; // What ends here.
    }
    const size_t first = bound(prefixes, walk, byte);
    const size_t end = bound(prefixes, walk, byte + 1);
    *walk = (struct prefixes_walk){.first = first, .end = end, .depth = walk->depth + 1};
    return first < end;
}

const struct vocabulary_token *prefixes_match(const struct prefixes *prefixes,
                                              const struct prefixes_walk *walk)
{
    if (walk->depth == 0 || walk->first == walk->end ||
        prefixes->sorted[walk->first]->length != walk->depth) {
        return NULL;
    }
    return prefixes->sorted[walk->first];
}

const struct vocabulary_token *
prefixes_longest(const struct prefixes *prefixes, const char *text, size_t length)
{
    const struct vocabulary_token *longest = NULL;
    struct prefixes_walk walk;
    prefixes_start(prefixes, &walk);
    for (size_t i = 0; i < length && prefixes_step(prefixes, &walk, (unsigned char)text[i]); ++i) {
        const struct vocabulary_token *match = prefixes_match(prefixes, &walk);
        longest = match ? match : longest;
    }
    return longest;
}
