// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Numbers that look random and are not: the same seed gives the same row on every machine.
#pragma once

#include <stdint.h>

struct random {
    uint64_t state[4];
};

// xoshiro256**, seeded by splitmix64 (Blackman and Vigna, 2018).
void random_init(struct random *random, uint64_t seed);
uint64_t random_u64(struct random *random);

// Evenly in [0, bound); `bound` is not 0.
uint64_t random_below(struct random *random, uint64_t bound);

// Evenly in [low, high).
double random_between(struct random *random, double low, double high);
