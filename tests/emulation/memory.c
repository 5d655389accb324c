// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "memory.h"

#include <string.h>
#include <sys/mman.h>

enum { ALIGN = 16, PAGE = 4096 };

bool emulation_memory_new(size_t size, struct emulation_memory *out_memory)
{
    const size_t rounded = (size + ALIGN - 1) / ALIGN * ALIGN;
    const size_t mapped = (rounded + PAGE - 1) / PAGE * PAGE + PAGE;
    void *map = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (map == MAP_FAILED) {
        return false;
    }
    unsigned char *end = (unsigned char *)map + mapped - PAGE;

    (void)mprotect(end, PAGE, PROT_NONE); // Without it, reading beyond the end is not seen.
    memset(end - rounded, 0xff, rounded);
    *out_memory = (struct emulation_memory){
        .map = map, .begin = end - rounded, .mapped = mapped, .size = size};
    return true;
}

void emulation_memory_free(const struct emulation_memory *memory)
{
    (void)munmap(memory->map, memory->mapped);
}
