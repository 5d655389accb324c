// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "tokenizer/merging.h"

#include "base/alloc.h"
#include "base/assert.h"

struct merging_candidate {
    uint64_t order; // rank << 32 | position
    uint32_t left_length, right_length;
    int32_t id;
};

// A run of merges.
struct merging_pass {
    struct merging *merging;
    merging_fn merge;
    const void *user;
    size_t heap_count;
};

void merging_init(struct merging *merging)
{
    *merging = (struct merging){0};
}

void merging_release(struct merging *merging)
{
    alloc_free(merging->symbols);
    alloc_free(merging->heap);
    merging_init(merging);
}

static tapml_status reserve(struct merging *merging, size_t length)
{
    if (length <= merging->capacity) {
        return TAPML_OK;
    }
    size_t capacity = merging->capacity > 0 ? merging->capacity : 64;
    while (capacity < length) {
        capacity *= 2;
    }
    merging_release(merging);
    // Every merge takes one candidate and adds at most two, and there are fewer merges than bytes.
    merging->symbols = alloc_array(capacity, sizeof(*merging->symbols));
    merging->heap = alloc_array(capacity * 2, sizeof(*merging->heap));
    if (!merging->symbols || !merging->heap) {
        merging_release(merging);
        return status_no_memory();
    }
    merging->capacity = capacity;
    return TAPML_OK;
}

tapml_status merging_start(struct merging *merging, const char *piece, size_t length)
{
    if (length > MERGING_LENGTH_MAX) {
        return status_fail(TAPML_INVALID, "expected pieces of at most %d bytes, found %zu",
                           MERGING_LENGTH_MAX, length);
    }
    TAPML_TRY(reserve(merging, length));
    merging->piece = piece;
    merging->count = 0;
    return TAPML_OK;
}

void merging_add(struct merging *merging, size_t begin, size_t length, int32_t id)
{
    const int32_t at = (int32_t)merging->count++;
    ASSERT(merging->count <= merging->capacity);
    merging->symbols[at] = (struct merging_symbol){.begin = (uint32_t)begin,
                                                   .length = (uint32_t)length,
                                                   .id = id,
                                                   .previous = at - 1,
                                                   .next = -1};
    if (at > 0) {
        merging->symbols[at - 1].next = at;
    }
}

static void swap(struct merging_candidate *a, struct merging_candidate *b)
{
    const struct merging_candidate kept = *a;
    *a = *b;
    *b = kept;
}

static void heap_add(struct merging_pass *run, struct merging_candidate candidate)
{
    struct merging_candidate *heap = run->merging->heap;
    size_t at = run->heap_count++;
    heap[at] = candidate;
    while (at > 0 && heap[at].order < heap[(at - 1) / 2].order) {
        swap(&heap[at], &heap[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
}

static struct merging_candidate heap_take(struct merging_pass *run)
{
    struct merging_candidate *heap = run->merging->heap;
    const struct merging_candidate least = heap[0];
    const size_t left = --run->heap_count;
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

// Adds the pair that begins at `position` to the candidates, if it merges.
static void consider(struct merging_pass *run, int32_t position)
{
    const struct merging_symbol *symbols = run->merging->symbols;
    const struct merging_symbol *left = position >= 0 ? &symbols[position] : NULL;
    if (!left || left->next < 0) {
        return;
    }
    const struct merging_symbol *right = &symbols[left->next];
    uint32_t rank = 0;
    int32_t id = MERGING_NO_ID;
    if (run->merge(run->user, run->merging, left, right, &rank, &id)) {
        heap_add(run, (struct merging_candidate){.order = (uint64_t)rank << 32 | (uint32_t)position,
                                                 .left_length = left->length,
                                                 .right_length = right->length,
                                                 .id = id});
    }
}

// A candidate is stale where one of its halves has been merged since: its length is another one.
static int is_stale(const struct merging_symbol *symbols, const struct merging_candidate *candidate)
{
    const struct merging_symbol *left = &symbols[(uint32_t)candidate->order];
    return left->length != candidate->left_length || left->next < 0 ||
           symbols[left->next].length != candidate->right_length;
}

void merging_run(struct merging *merging, merging_fn merge, const void *user)
{
    struct merging_symbol *symbols = merging->symbols;
    struct merging_pass run = {.merging = merging, .merge = merge, .user = user};
    for (size_t i = 0; i < merging->count; ++i) {
        consider(&run, (int32_t)i);
    }
    while (run.heap_count > 0) {
        const struct merging_candidate best = heap_take(&run);
        if (is_stale(symbols, &best)) {
            continue;
        }
        const int32_t position = (int32_t)(uint32_t)best.order;
        struct merging_symbol *left = &symbols[position];
        struct merging_symbol *right = &symbols[left->next];
        left->length += right->length;
        right->length = 0;
        left->id = best.id;
        left->next = right->next;
        if (left->next >= 0) {
            symbols[left->next].previous = position;
        }
        consider(&run, left->previous);
        consider(&run, position);
    }
}
