// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A bump allocator whose blocks are all freed together.
//
// Everything allocated from an arena lives until `arena_destroy`; there is no way to free one
// block. Use one arena for each span of work (a graph, a config), and the clean-up is one call.
#pragma once

#include <stddef.h>

struct arena;

// An arena that grows as needed, or NULL when memory is exhausted. The caller owns it.
struct arena *arena_create(void);

// Destroys `arena` and everything allocated from it. NULL is allowed.
void arena_destroy(struct arena *arena);

// Bytes that were asked for so far.
size_t arena_size(const struct arena *arena);

// `size` zeroed bytes, aligned for any type, or NULL.
void *arena_new(struct arena *arena, size_t size);

// `count` zeroed items of `item_size` bytes, or NULL, also where the product overflows.
void *arena_array(struct arena *arena, size_t count, size_t item_size);

// A copy of `text` in the arena, or NULL.
const char *arena_text(struct arena *arena, const char *text);

// A text made as printf does, in the arena, or NULL.
const char *arena_format(struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
