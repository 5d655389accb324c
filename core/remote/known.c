// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "remote/known.h"

#include "base/alloc.h"

enum { CAPACITY_LEAST = 1024 };

void known_release(struct known *known)
{
    alloc_free(known->slots);
    *known = (struct known){.slots = NULL};
}

static int is_free(struct hash hash)
{
    return hash.high == 0 && hash.low == 0;
}

// The slot of a hash, or the free one where it would be.
static struct hash *find(const struct known *known, struct hash hash)
{
    size_t at = (size_t)hash.low & (known->capacity - 1);

    while (!is_free(known->slots[at]) && !hash_equal(known->slots[at], hash)) {
        at = (at + 1) & (known->capacity - 1);
    }
    return &known->slots[at];
}

// At most half of the slots are used, so that a search is short.
static int make_room(struct known *known)
{
    struct known larger = {.capacity = known->capacity > 0 ? 2 * known->capacity : CAPACITY_LEAST};

    if (2 * (known->count + 1) <= known->capacity) {
        return 1;
    }
    larger.slots = alloc_array(larger.capacity, sizeof(*larger.slots));
    if (larger.slots == NULL) {
        return 0;
    }
    for (size_t i = 0; i < known->capacity; i++) {
        if (!is_free(known->slots[i])) {
            *find(&larger, known->slots[i]) = known->slots[i];
            larger.count++;
        }
    }
    alloc_free(known->slots);
    *known = larger;
    return 1;
}

void known_add(struct known *known, struct hash hash)
{
    if (is_free(hash) || !make_room(known)) {
        return;
    }
    struct hash *slot = find(known, hash);

    known->count += is_free(*slot);
    *slot = hash;
}

int known_has(const struct known *known, struct hash hash)
{
    return known->capacity > 0 && !is_free(hash) && !is_free(*find(known, hash));
}
