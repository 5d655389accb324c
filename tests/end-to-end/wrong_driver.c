// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A library that is loaded before all others (LD_PRELOAD) and makes drivers of OpenCL and Vulkan
// wrong: of what is transferred, the bytes behind the last multiple of 16 are left out. The
// functions are declared as in the vendors' headers, which need not be there. A program that copies
// in more than one region at once is not served.
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define PUBLIC __attribute__((visibility("default")))

enum { GRAIN = 16 };

typedef int write_fn(void *queue,
                     void *memory,
                     uint32_t is_blocking,
                     size_t offset,
                     size_t size,
                     const void *from,
                     uint32_t event_count,
                     const void *events,
                     void *event);

// A VkBufferCopy.
struct region {
    uint64_t from, to, size;
};
typedef void
copy_fn(void *commands, void *from, void *to, uint32_t region_count, const struct region *regions);

write_fn clEnqueueWriteBuffer;
copy_fn vkCmdCopyBuffer;

// The next function of that name, which is the driver's.
static void find_next(const char *name, void *out_function)
{
    void *found = dlsym(RTLD_NEXT, name);
    memcpy(out_function, &found, sizeof(found)); // ISO C has no cast from data to function.
}

PUBLIC int clEnqueueWriteBuffer(void *queue,
                                void *memory,
                                uint32_t is_blocking,
                                size_t offset,
                                size_t size,
                                const void *from,
                                uint32_t event_count,
                                const void *events,
                                void *event)
{
    const size_t cut = size / GRAIN * GRAIN;
    write_fn *next = NULL;
    find_next("clEnqueueWriteBuffer", (void *)&next);
    return cut > 0 ? next(queue, memory, is_blocking, offset, cut, from, event_count, events, event)
                   : 0;
}

PUBLIC void vkCmdCopyBuffer(
    void *commands, void *from, void *to, uint32_t region_count, const struct region *regions)
{
    struct region cut = regions[0];
    copy_fn *next = NULL;
    find_next("vkCmdCopyBuffer", (void *)&next);
    cut.size = cut.size / GRAIN * GRAIN;
    if (cut.size > 0 && region_count == 1) {
        next(commands, from, to, 1, &cut);
    }
}
