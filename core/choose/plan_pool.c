// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "choose/plan_pool.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/hash.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TABLE_BITS = 15, TABLE_SIZE = 1 << TABLE_BITS };

tapml_status
plan_pool_init(struct plan_pool *pool, const struct plan_pool_input *input, struct arena *arena)
{
    *pool = (struct plan_pool){.given = *input,
                               .arena = arena,
                               .table = alloc_array(TABLE_SIZE, sizeof(struct plan_trial *))};
    return pool->table ? TAPML_OK : status_no_memory();
}

void plan_pool_release(struct plan_pool *pool)
{
    alloc_free(pool->items);
    alloc_free(pool->table);
    *pool = (struct plan_pool){.arena = NULL};
}

static size_t slot_of(uint64_t hash)
{
    return (size_t)hash % TABLE_SIZE;
}

static struct plan_trial *find(const struct plan_pool *pool, const uint8_t *places, uint64_t hash)
{
    for (size_t at = slot_of(hash); pool->table[at]; at = (at + 1) % TABLE_SIZE) {
        struct plan_trial *known = pool->table[at];
        if (known->hash == hash &&
            memcmp(known->places, places, pool->given.question->n_ops) == 0) {
            return known;
        }
    }
    return NULL;
}

// Beyond half of the table plans are looked at anew.
static void note(struct plan_pool *pool, struct plan_trial *trial)
{
    size_t at = slot_of(trial->hash);
    if (pool->count > TABLE_SIZE / 2) {
        return;
    }
    while (pool->table[at]) {
        at = (at + 1) % TABLE_SIZE;
    }
    pool->table[at] = trial;
}

static int is_too_large(const struct plan_pool *pool, const struct plan_trial *trial)
{
    const uint64_t most = pool->given.memory_bytes;
    for (uint32_t i = 1; most > 0 && i < pool->given.question->n_places; i++) {
        if (trial->look.bytes[i] > most) {
            return 1;
        }
    }
    return 0;
}

static tapml_status make(struct plan_pool *pool, struct plan_trial **out_trial)
{
    const tapml_policy_ops *question = pool->given.question;
    struct plan_trial *trial = arena_array(pool->arena, 1, sizeof(*trial));
    if (!trial) {
        return status_no_memory();
    }
    *trial = (struct plan_trial){
        .places = arena_array(pool->arena, (size_t)question->n_ops + 1, 1),
        .look = {.columns = arena_array(pool->arena, pool->given.width + 1, sizeof(double)),
                 .bytes =
                     arena_array(pool->arena, (size_t)question->n_places + 1, sizeof(uint64_t))},
        .value = NAN,
        .spread = NAN};
    *out_trial = trial;
    return trial->places && trial->look.columns && trial->look.bytes &&
                   alloc_grow((void **)&pool->items, &pool->capacity, pool->count,
                              sizeof(struct plan_trial *))
               ? TAPML_OK
               : status_no_memory();
}

static tapml_status look(struct plan_pool *pool, struct plan_trial *trial)
{
    TAPML_TRY(pool->given.look(pool->given.user, trial->places, &trial->look));
    for (size_t i = 0; i < pool->given.width; i++) {
        trial->analytic += trial->look.columns[i] * pool->given.guesses[i];
    }
    trial->predicted = trial->analytic;
    trial->is_too_large = is_too_large(pool, trial);
    pool->too_large += (size_t)trial->is_too_large;
    pool->items[pool->count++] = trial;
    note(pool, trial);
    return TAPML_OK;
}

tapml_status plan_pool_look(struct plan_pool *pool,
                            const uint8_t *places,
                            const char *name,
                            const struct plan_trial *from,
                            struct plan_trial **out_trial)
{
    const uint32_t count = pool->given.question->n_ops;
    const uint64_t hash = hash_bytes(places, count).low;
    struct plan_trial *trial = find(pool, places, hash);
    if (!trial) {
        TAPML_TRY(make(pool, &trial));
        memcpy((uint8_t *)(uintptr_t)trial->places, places, count);
        trial->hash = hash;
        trial->name = name;
        trial->edits = from ? from->edits + 1 : 0;
        TAPML_TRY(look(pool, trial));
    }
    *out_trial = trial;
    return TAPML_OK;
}

int plan_pool_can_measure(const struct plan_trial *trial)
{
    return trial->round == 0 && !trial->failed && !trial->is_too_large;
}

static int by_score(const void *a, const void *b)
{
    const struct plan_scored *one = a, *other = b;
    if (one->score != other->score) {
        return one->score < other->score ? -1 : 1;
    }
    return one->index < other->index ? -1 : one->index > other->index;
}

void plan_pool_sort(struct plan_scored *items, size_t count)
{
    if (count > 0) {
        qsort(items, count, sizeof(*items), by_score);
    }
}
