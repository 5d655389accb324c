// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/random.h"

#include "base/assert.h"

static uint64_t splitmix64(uint64_t *state)
{
    *state += 0x9e3779b97f4a7c15u;
    uint64_t z = *state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static uint64_t rotate_left(uint64_t x, unsigned bits)
{
    return (x << bits) | (x >> (64 - bits));
}

void random_init(struct random *random, uint64_t seed)
{
    for (int i = 0; i < 4; ++i) {
        random->state[i] = splitmix64(&seed);
    }
}

uint64_t random_u64(struct random *random)
{
    uint64_t *s = random->state;
    const uint64_t result = rotate_left(s[1] * 5, 7) * 9;
    const uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate_left(s[3], 45);
    return result;
}

uint64_t random_below(struct random *random, uint64_t bound)
{
    ASSERT(bound > 0);
    uint64_t drawn = random_u64(random);
    if ((bound & (bound - 1)) == 0) {
        return drawn & (bound - 1);
    }
    // The lowest numbers are drawn again, so that a multiple of `bound` remains: 2^64 mod bound,
    // which is below `bound`.
    while (drawn < bound && drawn < (0 - bound) % bound) {
        drawn = random_u64(random);
    }
    return drawn % bound;
}

double random_between(struct random *random, double low, double high)
{
    const double unit = (double)(random_u64(random) >> 11) * 0x1p-53;
    const double value = low + (high - low) * unit;
    // Rounding can reach `high`.
    return value < high ? value : low;
}
