// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/alloc.h"

#include "base/assert.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LARGE_PAGE_BYTES = 2 << 20 };

// Counters of the process, as the heap behind them is.
static _Atomic size_t blocks_alive;
static _Atomic size_t blocks_made;
static _Atomic int64_t calls_to_failure; // 0 or less: none will fail.

static _Atomic uint64_t memory_bytes; // Of the machine, as a test has it; 0: as it is.

static int must_fail(void)
{
    return atomic_load(&calls_to_failure) > 0 && atomic_fetch_sub(&calls_to_failure, 1) == 1;
}

static void *count_block(void *block)
{
    if (block) {
        atomic_fetch_add(&blocks_alive, 1);
        atomic_fetch_add(&blocks_made, 1);
    }
    return block;
}

void *alloc_new(size_t size)
{
    return must_fail() ? NULL : count_block(calloc(1, size > 0 ? size : 1));
}

void *alloc_array(size_t count, size_t item_size)
{
    size_t size = 0;
    return __builtin_mul_overflow(count, item_size, &size) ? NULL : alloc_new(size);
}

void *alloc_raw(size_t size)
{
    return must_fail() ? NULL : count_block(malloc(size > 0 ? size : 1));
}

// A wish, that a system may not know or refuse: what is in large pages is read faster.
static void ask_for_large_pages(void *block, size_t size)
{
#ifdef MADV_HUGEPAGE
    const uintptr_t mask = LARGE_PAGE_BYTES - 1;
    const uintptr_t begin = ((uintptr_t)block + mask) & ~mask;
    const uintptr_t end = ((uintptr_t)block + size) & ~mask;
    if (begin < end) {
        (void)madvise((char *)block + (begin - (uintptr_t)block), end - begin, MADV_HUGEPAGE);
    }
#endif
}

void *alloc_aligned(size_t size, size_t align)
{
    ASSERT(align > 0 && (align & (align - 1)) == 0);
    void *block = NULL;
    const size_t system_align = align < sizeof(void *) ? sizeof(void *) : align;
    if (must_fail() || posix_memalign(&block, system_align, size > 0 ? size : 1) != 0) {
        return NULL;
    }
    ask_for_large_pages(block, size);
    memset(block, 0, size);
    return count_block(block);
}

void alloc_free(void *block)
{
    if (block) {
        atomic_fetch_sub(&blocks_alive, 1);
        free(block);
    }
}

char *alloc_text(const char *text)
{
    const size_t size = strlen(text) + 1;
    char *copy = alloc_new(size);
    if (copy) {
        memcpy(copy, text, size);
    }
    return copy;
}

int alloc_grow(void **items, size_t *capacity, size_t count, size_t item_size)
{
    enum { FIRST_CAPACITY = 8 };
    if (count < *capacity) {
        return 1;
    }
    // The owner's pointer has another type than void *, so it is read and written as bytes.
    void *old = NULL;
    memcpy(&old, items, sizeof(old));
    const size_t more = *capacity > 0 ? *capacity * 2 : FIRST_CAPACITY;
    void *grown = more > *capacity ? alloc_array(more, item_size) : NULL;
    if (!grown) {
        return 0;
    }
    ask_for_large_pages(grown, more * item_size);
    if (old) {
        memcpy(grown, old, count * item_size);
    }
    alloc_free(old);
    memcpy(items, &grown, sizeof(grown));
    *capacity = more;
    return 1;
}

uint64_t alloc_memory_bytes(void)
{
    const uint64_t given = atomic_load(&memory_bytes);
    const int64_t pages = sysconf(_SC_PHYS_PAGES);
    return given > 0 ? given : pages > 0 ? (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

void alloc_set_memory_bytes(uint64_t bytes)
{
    atomic_store(&memory_bytes, bytes);
}

size_t alloc_live(void)
{
    return atomic_load(&blocks_alive);
}

size_t alloc_made(void)
{
    return atomic_load(&blocks_made);
}

void alloc_fail_at(size_t n)
{
    atomic_store(&calls_to_failure, (int64_t)n);
}
