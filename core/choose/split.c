// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "choose/split.h"

#include "base/arena.h"
#include "base/assert.h"

#include <stdlib.h>
#include <string.h>

// Items of one key.
struct bundle_of_key {
    const char *key;
    uint64_t cost;
    size_t begin, count; // In the items sorted by key.
};

struct keyed_item {
    const struct split_item *item;
    size_t index;
};

struct shard_load {
    uint64_t cost;
    size_t count;   // Of items, which decides between equal costs;
    uint32_t shard; // then the number does.
};

static int compare_indices(size_t a, size_t b)
{
    return a < b ? -1 : a > b;
}

static int by_key(const void *a, const void *b)
{
    const struct keyed_item *one = a, *other = b;
    const int order = strcmp(one->item->key, other->item->key);
    return order != 0 ? order : compare_indices(one->index, other->index);
}

static int by_cost(const void *a, const void *b)
{
    const struct bundle_of_key *one = a, *other = b;
    if (one->cost != other->cost) {
        return one->cost > other->cost ? -1 : 1;
    }
    const int order = strcmp(one->key, other->key);
    return order != 0 ? order : compare_indices(one->begin, other->begin);
}

static int is_lighter(const struct shard_load *one, const struct shard_load *other)
{
    return one->cost != other->cost     ? one->cost < other->cost
           : one->count != other->count ? one->count < other->count
                                        : one->shard < other->shard;
}

// The lightest shard of a heap has become heavier.
static void sink(struct shard_load *heap, uint32_t count)
{
    size_t at = 0;
    for (;;) {
        size_t least = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < count; child++) {
            least = is_lighter(&heap[child], &heap[least]) ? child : least;
        }
        if (least == at) {
            return;
        }
        const struct shard_load kept = heap[at];
        heap[at] = heap[least];
        heap[least] = kept;
        at = least;
    }
}

static size_t
group_by_key(const struct keyed_item *sorted, size_t count, struct bundle_of_key *out_groups)
{
    size_t groups = 0;
    for (size_t i = 0; i < count; i++) {
        const char *key = sorted[i].item->key;
        if (groups == 0 || *key == '\0' || strcmp(out_groups[groups - 1].key, key) != 0) {
            out_groups[groups++] = (struct bundle_of_key){.key = key, .begin = i};
        }
        out_groups[groups - 1].cost += sorted[i].item->cost;
        out_groups[groups - 1].count++;
    }
    return groups;
}

static void deal(const struct keyed_item *sorted,
                 const struct bundle_of_key *groups,
                 size_t group_count,
                 struct shard_load *heap,
                 uint32_t shards,
                 uint32_t *out_shards)
{
    for (uint32_t i = 0; i < shards; i++) {
        heap[i] = (struct shard_load){.shard = i};
    }
    for (size_t i = 0; i < group_count; i++) {
        for (size_t n = 0; n < groups[i].count; n++) {
            out_shards[sorted[groups[i].begin + n].index] = heap[0].shard;
        }
        heap[0].cost += groups[i].cost;
        heap[0].count += groups[i].count;
        sink(heap, shards);
    }
}

tapml_status
split_run(const struct split_item *items, size_t count, uint32_t shards, uint32_t *out_shards)
{
    struct arena *arena = arena_create();
    ASSERT(shards >= 1 && shards <= SPLIT_SHARDS_MAX);
    struct keyed_item *sorted = arena ? arena_array(arena, count + 1, sizeof(*sorted)) : NULL;
    struct bundle_of_key *groups = arena ? arena_array(arena, count + 1, sizeof(*groups)) : NULL;
    struct shard_load *heap = arena ? arena_array(arena, shards, sizeof(*heap)) : NULL;
    const int has_memory = sorted && groups && heap;
    if (has_memory) {
        for (size_t i = 0; i < count; i++) {
            sorted[i] = (struct keyed_item){&items[i], i};
        }
        qsort(sorted, count, sizeof(*sorted), by_key);
        const size_t group_count = group_by_key(sorted, count, groups);
        qsort(groups, group_count, sizeof(*groups), by_cost);
        deal(sorted, groups, group_count, heap, shards, out_shards);
    }
    arena_destroy(arena);
    return has_memory ? TAPML_OK : status_no_memory();
}

void split_fill_costs(struct split_item *items, size_t count)
{
    uint64_t sum = 0, known = 0;
    for (size_t i = 0; i < count; i++) {
        sum += items[i].cost;
        known += items[i].cost > 0;
    }
    const uint64_t mean = known > 0 && sum > known ? sum / known : 1;
    for (size_t i = 0; i < count; i++) {
        items[i].cost = items[i].cost > 0 ? items[i].cost : mean;
    }
}
