// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "remote/mirror.h"

#include "base/alloc.h"
#include "base/shared.h"
#include "link/message.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

enum { NUMBER_MAX = 1 << 16 };

static size_t index_of(uint32_t number)
{
    return number & ~MESSAGE_IS_IMPORT;
}

static int is_import(uint32_t number)
{
    return (number & MESSAGE_IS_IMPORT) != 0;
}

static void forget(struct mirror_memory *memory)
{
    if (memory->made != NULL) {
        shared_destroy(memory->made);
    } else if (memory->memory != NULL) {
        munmap(memory->memory, memory->bytes);
    }
    *memory = (struct mirror_memory){.memory = NULL};
}

void mirror_release(struct mirror *mirror)
{
    for (size_t k = 0; k < 2; k++) {
        for (size_t i = 0; i < mirror->lists[k].count; i++) {
            forget(&mirror->lists[k].items[i]);
        }
        alloc_free(mirror->lists[k].items);
    }
    *mirror = (struct mirror){.bytes_made = 0};
}

uint32_t mirror_next_region(const struct mirror *mirror)
{
    return (uint32_t)mirror->lists[0].count;
}

// The place for memory of a new number.
static tapml_status
claim(struct mirror *mirror, uint32_t number, uint64_t bytes, struct mirror_memory **out_memory)
{
    struct mirror_list *list = &mirror->lists[is_import(number)];

    if (index_of(number) > NUMBER_MAX || bytes == 0 || bytes > SIZE_MAX / 2) {
        return status_fail(TAPML_INVALID, "memory %u of %llu bytes cannot be", number,
                           (unsigned long long)bytes);
    }
    while (list->count <= index_of(number)) {
        void *items = list->items;

        if (!alloc_grow(&items, &list->capacity, list->count, sizeof(*list->items))) {
            return status_no_memory();
        }
        list->items = items;
        list->items[list->count++] = (struct mirror_memory){.memory = NULL};
    }
    *out_memory = &list->items[index_of(number)];
    return (*out_memory)->memory == NULL
               ? TAPML_OK
               : status_fail(TAPML_INVALID, "there is memory %u already", number);
}

tapml_status mirror_map(struct mirror *mirror, uint32_t number, int descriptor, uint64_t bytes)
{
    struct mirror_memory *place = NULL;

    TAPML_TRY(claim(mirror, number, bytes, &place));
    void *memory = mmap(NULL, bytes, is_import(number) ? PROT_READ : PROT_READ | PROT_WRITE,
                        MAP_SHARED, descriptor, 0);

    if (memory == MAP_FAILED) {
        return status_fail(TAPML_NO_MEMORY, "shared memory of %llu bytes cannot be mapped: %s",
                           (unsigned long long)bytes, strerror(errno));
    }
    *place = (struct mirror_memory){.memory = memory, .bytes = bytes};
    return TAPML_OK;
}

tapml_status mirror_make(
    struct mirror *mirror, uint32_t number, uint64_t bytes, uint64_t bytes_max, int *out_descriptor)
{
    struct mirror_memory *place = NULL;
    struct shared_span span = {0};
    struct shared *made = NULL;

    TAPML_TRY(claim(mirror, number, bytes, &place));
    if (bytes > bytes_max || mirror->bytes_made > bytes_max - bytes) {
        return status_fail(TAPML_INVALID, "more than %llu bytes of memory for a host",
                           (unsigned long long)bytes_max);
    }
    TAPML_TRY(shared_create(is_import(number) ? SHARED_READ_ONLY : SHARED_WRITABLE, &made));
    const tapml_status status = shared_take(made, bytes, &span);

    if (status != TAPML_OK) {
        shared_destroy(made);
        return status;
    }
    *place = (struct mirror_memory){.memory = span.memory, .bytes = bytes, .made = made};
    mirror->bytes_made += bytes;
    *out_descriptor = shared_descriptor(made, 0);
    return TAPML_OK;
}

static struct mirror_memory *find(const struct mirror *mirror, uint32_t number)
{
    const struct mirror_list *list = &mirror->lists[is_import(number)];

    return index_of(number) < list->count ? &list->items[index_of(number)] : NULL;
}

void mirror_drop(struct mirror *mirror, uint32_t number)
{
    struct mirror_memory *memory = find(mirror, number);

    if (memory != NULL) {
        mirror->bytes_made -= memory->made != NULL ? memory->bytes : 0;
        forget(memory);
    }
}

unsigned char *
mirror_span(const struct mirror *mirror, uint32_t number, uint64_t offset, uint64_t bytes)
{
    const struct mirror_memory *memory = find(mirror, number);

    return memory != NULL && memory->memory != NULL && offset <= memory->bytes &&
                   bytes <= memory->bytes - offset
               ? memory->memory + offset
               : NULL;
}
