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

// What shards have by now.
struct split_loads {
    uint32_t shards;
    uint64_t *costs;
    size_t *counts;     // Of items, which decide between equal costs; then the number does.
    unsigned char *has; // classes x shards, in bits.
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

static int make_loads(const struct split_item *items,
                      size_t count,
                      uint32_t shards,
                      struct arena *arena,
                      struct split_loads *out_loads)
{
    size_t classes = 1;
    for (size_t i = 0; i < count; i++) {
        ASSERT(items[i].class_ < count);
        classes = items[i].class_ >= classes ? items[i].class_ + (size_t)1 : classes;
    }
    *out_loads = (struct split_loads){.shards = shards,
                                      .costs = arena_array(arena, shards, sizeof(uint64_t)),
                                      .counts = arena_array(arena, shards, sizeof(size_t)),
                                      .has = arena_array(arena, classes * shards / 8 + 1, 1)};
    return out_loads->costs && out_loads->counts && out_loads->has;
}

// The setup that an item makes a shard do.
static uint64_t
setup_of(const struct split_loads *loads, const struct split_item *item, uint32_t shard)
{
    const size_t bit = (size_t)item->class_ * loads->shards + shard;
    return loads->has[bit / 8] & 1U << bit % 8 ? 0 : item->setup;
}

static void add(struct split_loads *loads, const struct split_item *item, uint32_t shard)
{
    const size_t bit = (size_t)item->class_ * loads->shards + shard;
    loads->costs[shard] += item->cost + setup_of(loads, item, shard);
    loads->counts[shard]++;
    loads->has[bit / 8] |= (unsigned char)(1U << bit % 8);
}

static uint32_t find_lightest(const struct split_loads *loads, const struct split_item *item)
{
    uint32_t best = 0;
    uint64_t least = UINT64_MAX;
    for (uint32_t i = 0; i < loads->shards; i++) {
        const uint64_t cost = loads->costs[i] + setup_of(loads, item, i);
        if (cost < least || (cost == least && loads->counts[i] < loads->counts[best])) {
            best = i;
            least = cost;
        }
    }
    return best;
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
                 struct split_loads *loads,
                 uint32_t *out_shards)
{
    for (size_t i = 0; i < group_count; i++) {
        const struct keyed_item *first = &sorted[groups[i].begin];
        const uint32_t shard = find_lightest(loads, first->item);
        for (size_t n = 0; n < groups[i].count; n++) {
            out_shards[first[n].index] = shard;
            add(loads, first[n].item, shard);
        }
    }
}

tapml_status
split_run(const struct split_item *items, size_t count, uint32_t shards, uint32_t *out_shards)
{
    struct arena *arena = arena_create();
    struct split_loads loads;
    ASSERT(shards >= 1 && shards <= SPLIT_SHARDS_MAX);
    struct keyed_item *sorted = arena ? arena_array(arena, count + 1, sizeof(*sorted)) : NULL;
    struct bundle_of_key *groups = arena ? arena_array(arena, count + 1, sizeof(*groups)) : NULL;
    const int has_memory = sorted && groups && make_loads(items, count, shards, arena, &loads);
    if (has_memory) {
        for (size_t i = 0; i < count; i++) {
            sorted[i] = (struct keyed_item){&items[i], i};
        }
        qsort(sorted, count, sizeof(*sorted), by_key);
        const size_t group_count = group_by_key(sorted, count, groups);
        qsort(groups, group_count, sizeof(*groups), by_cost);
        deal(sorted, groups, group_count, &loads, out_shards);
    }
    arena_destroy(arena);
    return has_memory ? TAPML_OK : status_no_memory();
}

tapml_status split_measure(const struct split_item *items,
                           size_t count,
                           const uint32_t *of,
                           uint32_t shards,
                           uint64_t *out_loads)
{
    struct arena *arena = arena_create();
    struct split_loads loads;
    const int has_memory = arena && make_loads(items, count, shards, arena, &loads);
    for (size_t i = 0; has_memory && i < count; i++) {
        add(&loads, &items[i], of[i]);
    }
    if (has_memory) {
        memcpy(out_loads, loads.costs, shards * sizeof(*out_loads));
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
