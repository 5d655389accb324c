// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// 128-bit XXH3 hashes: keys of tensors, prompts and models.
#pragma once

#include <stddef.h>
#include <stdint.h>

struct hash {
    uint64_t high, low;
};

enum { HASH_TEXT = 33 }; // Hexadecimal digits and a zero byte.

struct hash hash_bytes(const void *data, size_t size);

// Of several pieces one after another.
struct hash_state;
struct hash_state *hash_begin(void); // NULL: no memory.
void hash_add(struct hash_state *state, const void *data, size_t size);
struct hash hash_end(struct hash_state *state); // Frees the state.

int hash_equal(struct hash a, struct hash b);
void hash_text(struct hash hash, char out_text[HASH_TEXT]);
