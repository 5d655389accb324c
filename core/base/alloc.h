// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The only caller of malloc in the core. It counts blocks, and a test can make it fail.
//
// The caller owns every block and frees it with `alloc_free`. All functions may be called by any
// thread.
#pragma once

#include <stddef.h>
#include <stdint.h>

// Returns a zeroed block of `size` bytes (at least 1), or NULL if memory is exhausted. [any]
void *alloc_new(size_t size);

// Returns a zeroed block for `count` items of `item_size` bytes, or NULL if memory is exhausted or
// the product overflows. [any]
void *alloc_array(size_t count, size_t item_size);

// Returns a block of `size` undefined bytes, for callers that overwrite all of it, or NULL. [any]
void *alloc_raw(size_t size);

// Returns a zeroed block of `size` bytes at a multiple of `align`, a power of two, or NULL. A block
// that is large enough uses huge pages, if the system has them. [any]
void *alloc_aligned(size_t size, size_t align);

// Frees a block. NULL is allowed. [any]
void alloc_free(void *block);

// Returns a copy of `text`, or NULL if memory is exhausted. [any]
char *alloc_text(const char *text);

// Makes room for one more item behind `count` items of `item_size` bytes: doubles `*items` if
// `count` has reached `*capacity`. Returns 0 if memory is exhausted; the array is then unchanged. A
// large one uses huge pages, if the system has them.
int alloc_grow(void **items, size_t *capacity, size_t count, size_t item_size);

// Returns the bytes of memory that the machine has; 0 if the system does not say. [any]
uint64_t alloc_memory_bytes(void);

// Sets what alloc_memory_bytes returns, in bytes; 0 ends it. For tests.
void alloc_set_memory_bytes(uint64_t bytes);

// Returns the number of blocks that are allocated now. For tests.
size_t alloc_live(void);

// Returns the number of all allocations so far. For tests: on a hot path it must not change.
size_t alloc_made(void);

// Makes the n-th allocation from now fail, counted from 1; 0 cancels this. For tests.
void alloc_fail_at(size_t n);
