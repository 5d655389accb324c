// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A bump allocator whose blocks are all freed together.
//
// Everything allocated from an arena lives until `arena_reset` or `arena_destroy`; there is no way
// to free one block. Use one arena for each span of work (a graph, a config), and the clean-up is
// one call. An arena belongs to one thread at a time.
#pragma once

#include <stddef.h>

struct arena;

// Returns an arena that grows as needed, or NULL if memory is exhausted. The caller owns it.
struct arena *arena_create(void);

// Destroys `arena` and everything allocated from it. NULL is allowed.
void arena_destroy(struct arena *arena);

// Frees everything allocated from the arena, which keeps the memory of its newest block.
void arena_reset(struct arena *arena);

// Returns the number of bytes that were requested since the arena was created or reset.
size_t arena_size(const struct arena *arena);

// Returns `size` zeroed bytes, aligned for any type, or NULL if memory is exhausted.
void *arena_new(struct arena *arena, size_t size);

// Returns `count` zeroed items of `item_size` bytes, or NULL if memory is exhausted or the product
// overflows.
void *arena_array(struct arena *arena, size_t count, size_t item_size);

// Returns a copy of `text` in the arena, or NULL if memory is exhausted.
const char *arena_text(struct arena *arena, const char *text);

// Returns a text in the arena, formatted as by printf, or NULL if memory is exhausted.
const char *arena_format(struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
