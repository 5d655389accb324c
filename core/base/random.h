// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Pseudo-random numbers: the same seed gives the same sequence on every machine. A generator
// belongs to one thread.
#pragma once

#include <stdint.h>

struct random {
    uint64_t state[4];
};

// Starts the sequence of `seed`: xoshiro256**, seeded by splitmix64 (Blackman and Vigna, 2018).
void random_init(struct random *random, uint64_t seed);

// Returns the next 64 bits.
uint64_t random_u64(struct random *random);

// Returns a uniform number in [0, bound); `bound` is not 0.
uint64_t random_below(struct random *random, uint64_t bound);

// Returns a uniform number in [low, high).
double random_between(struct random *random, double low, double high);
