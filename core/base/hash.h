// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// 128-bit XXH3 hashes: keys of tensors, prompts and models. A state belongs to one thread.
#pragma once

#include <stddef.h>
#include <stdint.h>

struct hash {
    uint64_t high, low;
};

enum { HASH_TEXT = 33 }; // Hexadecimal digits and a zero byte.

// Returns the hash of `size` bytes. [any]
struct hash hash_bytes(const void *data, size_t size);

// The hash of several pieces, as if they were one.
struct hash_state;
// Returns an empty state, or NULL if memory is exhausted. `hash_end` frees it.
struct hash_state *hash_begin(void);

// Appends `size` bytes to the hashed data.
void hash_add(struct hash_state *state, const void *data, size_t size);

// Returns the hash of all pieces and frees the state.
struct hash hash_end(struct hash_state *state);

// Whether two hashes are equal. [any]
int hash_equal(struct hash a, struct hash b);
// Writes 32 lower-case hexadecimal digits and a zero byte. [any]
void hash_text(struct hash hash, char out_text[HASH_TEXT]);

// Reads what `hash_text` writes. Returns 0, and leaves `*out_hash` as it is, if `text` is anything
// else. [any]
int hash_parse(const char *text, struct hash *out_hash);
