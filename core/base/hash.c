// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#define XXH_STATIC_LINKING_ONLY // For the size of the state.
#include "base/hash.h"

#include "base/alloc.h"

#include <stdio.h>
#include <string.h>
#ifdef XXHASH_HAS_DISPATCH
#include <xxh_x86dispatch.h> // The same hashes, by the vectors that the machine has.
#else
#include <xxhash.h>
#endif

enum { STATE_ALIGN = 64 };

struct hash_state {
    XXH3_state_t sum;
};

struct hash hash_bytes(const void *data, size_t size)
{
    const XXH128_hash_t sum = XXH3_128bits(data, size);
    return (struct hash){.high = sum.high64, .low = sum.low64};
}

struct hash_state *hash_begin(void)
{
    struct hash_state *state = alloc_aligned(sizeof(*state), STATE_ALIGN);
    if (state) {
        XXH3_128bits_reset(&state->sum);
    }
    return state;
}

void hash_add(struct hash_state *state, const void *data, size_t size)
{
    XXH3_128bits_update(&state->sum, data, size);
}

struct hash hash_end(struct hash_state *state)
{
    const XXH128_hash_t sum = XXH3_128bits_digest(&state->sum);
    alloc_free(state);
    return (struct hash){.high = sum.high64, .low = sum.low64};
}

int hash_equal(struct hash a, struct hash b)
{
    return a.high == b.high && a.low == b.low;
}

void hash_text(struct hash hash, char out_text[HASH_TEXT])
{
    snprintf(out_text, HASH_TEXT, "%016llx%016llx", (unsigned long long)hash.high,
             (unsigned long long)hash.low);
}

int hash_parse(const char *text, struct hash *out_hash)
{
    unsigned long long high = 0;
    unsigned long long low = 0;
    char again[HASH_TEXT];
    if (sscanf(text, "%16llx%16llx", &high, &low) != 2) {
        return 0;
    }
    const struct hash hash = {.high = high, .low = low};
    hash_text(hash, again);
    if (strcmp(text, again) != 0) { // Blanks, signs, upper case, or text behind it.
        return 0;
    }
    *out_hash = hash;
    return 1;
}
