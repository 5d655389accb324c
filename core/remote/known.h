// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A set of hashes: the pieces that the other side has. One thread.
#pragma once

#include "base/hash.h"

// Zeroed to begin with.
struct known {
    struct hash *slots; // Zeros: free. A hash of zeros is never in the set.
    size_t count, capacity;
};

void known_release(struct known *known);

// Adds a hash; without memory it is left out, since a set that knows less is right, too.
void known_add(struct known *known, struct hash hash);
int known_has(const struct known *known, struct hash hash);
