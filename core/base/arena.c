// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"

#include "base/alloc.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { ALIGN = _Alignof(max_align_t), BLOCK_SIZE_MIN = 4096, BLOCK_SIZE_MAX = 1 << 20 };

struct block {
    struct block *next;
    size_t size; // Of what follows the header.
    size_t used;
};

struct arena {
    struct block *blocks; // The newest first.
    size_t block_size;    // Of the next block, unless more is asked for.
    size_t asked;         // Bytes in all.
};

static size_t round_up(size_t size)
{
    return (size + ALIGN - 1) / ALIGN * ALIGN;
}

struct arena *arena_create(void)
{
    struct arena *arena = alloc_new(sizeof(*arena));
    if (arena) {
        arena->block_size = BLOCK_SIZE_MIN;
    }
    return arena;
}

static void free_blocks(struct block *block)
{
    while (block) {
        struct block *next = block->next;
        alloc_free(block);
        block = next;
    }
}

void arena_destroy(struct arena *arena)
{
    if (!arena) {
        return;
    }
    free_blocks(arena->blocks);
    alloc_free(arena);
}

size_t arena_size(const struct arena *arena)
{
    return arena->asked;
}

static struct block *block_add(struct arena *arena, size_t size_min)
{
    const size_t header = round_up(sizeof(struct block));
    const size_t size = size_min > arena->block_size ? size_min : arena->block_size;
    struct block *block = alloc_new(header + size);
    if (!block) {
        return NULL;
    }
    block->size = size;
    block->next = arena->blocks;
    arena->blocks = block;
    if (arena->block_size < BLOCK_SIZE_MAX) {
        arena->block_size *= 2;
    }
    return block;
}

static unsigned char *bytes_of(struct block *block)
{
    return (unsigned char *)block + round_up(sizeof(*block));
}

void arena_reset(struct arena *arena)
{
    struct block *newest = arena->blocks;
    arena->asked = 0;
    if (newest) {
        free_blocks(newest->next);
        newest->next = NULL;
        memset(bytes_of(newest), 0, newest->used); // The rest is as it was.
        newest->used = 0;
    }
}

void *arena_new(struct arena *arena, size_t size)
{
    if (size > SIZE_MAX / 2) {
        return NULL;
    }
    const size_t rounded = round_up(size > 0 ? size : 1);
    struct block *block = arena->blocks;
    if (!block || block->size - block->used < rounded) {
        block = block_add(arena, rounded);
    }
    if (!block) {
        return NULL;
    }
    void *result = bytes_of(block) + block->used;
    block->used += rounded;
    arena->asked += rounded;
    return result;
}

void *arena_array(struct arena *arena, size_t count, size_t item_size)
{
    size_t size = 0;
    return __builtin_mul_overflow(count, item_size, &size) ? NULL : arena_new(arena, size);
}

const char *arena_text(struct arena *arena, const char *text)
{
    const size_t size = strlen(text) + 1;
    char *copy = arena_new(arena, size);
    if (copy) {
        memcpy(copy, text, size);
    }
    return copy;
}

const char *arena_format(struct arena *arena, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *text = length < 0 ? NULL : arena_new(arena, (size_t)length + 1);
    if (text) {
        va_start(args, format);
        (void)vsnprintf(text, (size_t)length + 1, format, args); // Measured above.
        va_end(args);
    }
    return text;
}
