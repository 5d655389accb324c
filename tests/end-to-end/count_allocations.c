// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A library that is loaded before all others (LD_PRELOAD) and counts what a process asks memory
// for: every call of malloc, calloc, realloc and their relatives, from whatever library.
//
//   TAPML_COUNT_FILE  a file that gets the number at the end
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#define PUBLIC __attribute__((visibility("default")))

// What glibc has behind the names that are taken here.
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t align, size_t size);

void *memalign(size_t align, size_t size);

static atomic_long allocations;

// The names of parameters are ours, those of libc begin with two underscores.
// NOLINTBEGIN(readability-inconsistent-declaration-parameter-name)

PUBLIC void *malloc(size_t size)
{
    atomic_fetch_add(&allocations, 1);
    return __libc_malloc(size);
}

PUBLIC void *calloc(size_t count, size_t size)
{
    atomic_fetch_add(&allocations, 1);
    return __libc_calloc(count, size);
}

PUBLIC void *realloc(void *memory, size_t size)
{
    atomic_fetch_add(&allocations, 1);
    return __libc_realloc(memory, size);
}

PUBLIC void *memalign(size_t align, size_t size)
{
    atomic_fetch_add(&allocations, 1);
    return __libc_memalign(align, size);
}

PUBLIC void *aligned_alloc(size_t align, size_t size)
{
    return memalign(align, size);
}

PUBLIC int posix_memalign(void **out_memory, size_t align, size_t size)
{
    void *memory = memalign(align, size);

    if (memory != NULL) {
        *out_memory = memory;
    }
    return memory != NULL ? 0 : 12; // ENOMEM
}

// NOLINTEND(readability-inconsistent-declaration-parameter-name)

__attribute__((destructor)) static void write_count(void)
{
    const char *path = getenv("TAPML_COUNT_FILE");
    const long count = atomic_load(&allocations);
    FILE *file = path != NULL ? fopen(path, "w") : NULL;

    if (file != NULL) {
        (void)fprintf(file, "%ld\n", count);
        (void)fclose(file);
    }
}
