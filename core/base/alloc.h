// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The only caller of malloc in the core: counts blocks, and can be told to fail.
#pragma once

#include <stddef.h>

// A zeroed block of `size` bytes (at least 1), or NULL where there is no memory. [any]
void *alloc_new(size_t size);

// A zeroed block for `count` items of `item_size` bytes; NULL where the product overflows. [any]
void *alloc_array(size_t count, size_t item_size);

// A block whose bytes are undefined, for what is overwritten as a whole. [any]
void *alloc_raw(size_t size);

// A zeroed block on a multiple of `align`, a power of two; in large pages where it holds some and
// the system has them. Freed by `alloc_free` like all others. [any]
void *alloc_aligned(size_t size, size_t align);

// Frees a block. NULL is allowed. [any]
void alloc_free(void *block);

// A copy of `text`, to be freed; NULL where there is no memory. [any]
char *alloc_text(const char *text);

// Makes room for one more item behind `count` items of `item_size` bytes: doubles `*items` where
// `*capacity` is reached. Returns 0 where there is no memory; the array is then as it was.
int alloc_grow(void **items, size_t *capacity, size_t count, size_t item_size);

// Blocks that are alive now. For tests.
size_t alloc_live(void);

// Blocks that were ever made. For tests: the difference over a span must be 0 on a hot path.
size_t alloc_made(void);

// Makes the n-th allocation from now fail, counted from 1; 0 ends it. For tests.
void alloc_fail_at(size_t n);
