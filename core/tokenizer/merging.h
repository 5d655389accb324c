// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The merging of neighbours that all kinds of byte pair encoding share: of all pairs of neighbours
// that have a rank, the pair of the lowest rank becomes one symbol, the leftmost of equal ones,
// until none has a rank. n symbols take n log n steps.
#pragma once

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

enum { MERGING_NO_ID = -1, MERGING_LENGTH_MAX = 1 << 28 };

// A stretch of a piece.
struct merging_symbol {
    uint32_t begin, length;
    int32_t id;
    int32_t previous, next; // -1: none
};

// Memory that consecutive pieces of one thread reuse.
struct merging {
    const char *piece;
    struct merging_symbol *symbols;
    struct merging_candidate *heap;
    size_t count;    // Of symbols.
    size_t capacity; // The longest piece, in bytes, for which there is room.
};

// Makes an empty one, without an allocation.
void merging_init(struct merging *merging);

// Frees the memory.
void merging_release(struct merging *merging);

// Begins a piece of `length` bytes, which outlives its merging.
tapml_status merging_start(struct merging *merging, const char *piece, size_t length) STATUS_USED;

// Adds a symbol behind those before it; there are at most as many as the piece has bytes.
void merging_add(struct merging *merging, size_t begin, size_t length, int32_t id);

// What two neighbours become: returns 0 if they do not merge, else their rank and id.
typedef int (*merging_fn)(const void *user,
                          const struct merging *merging,
                          const struct merging_symbol *left,
                          const struct merging_symbol *right,
                          uint32_t *out_rank,
                          int32_t *out_id);

// Merges all. The symbols that are left follow one another from number 0 by `next`.
void merging_run(struct merging *merging, merging_fn merge, const void *user);
