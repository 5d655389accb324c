// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/shared.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    REGION_BYTES = 1 << 26,  // Of an ordinary region; larger spans get one of their own.
    KEPT_BYTES_MAX = 1 << 18 // Of a span whose memory stays when it is given back.
};

// A part of a region, used or free; free ones are never neighbours.
struct shared_part {
    uint64_t offset;
    uint64_t bytes;
    int is_used;
};

struct region {
    unsigned char *memory;
    uint64_t bytes;
    int descriptor;
    struct shared_part *parts; // Without gaps, by offset.
    size_t count;
    size_t capacity;
};

struct shared {
    struct region *regions;
    size_t count;
    size_t capacity;
    enum shared_access access;
};

tapml_status shared_create(enum shared_access access, struct shared **out_shared)
{
    struct shared *shared = alloc_new(sizeof(*shared));
    if (!shared) {
        return status_no_memory();
    }
    shared->access = access;
    *out_shared = shared;
    return TAPML_OK;
}

static void region_release(struct region *region)
{
    if (region->memory) {
        munmap(region->memory, region->bytes);
    }
    if (region->descriptor >= 0) {
        close(region->descriptor);
    }
    alloc_free(region->parts);
}

void shared_destroy(struct shared *shared)
{
    if (!shared) {
        return;
    }
    for (size_t i = 0; i < shared->count; i++) {
        region_release(&shared->regions[i]);
    }
    alloc_free(shared->regions);
    alloc_free(shared);
}

// Puts a part in at `at`.
static int insert(struct region *region, size_t at, struct shared_part part)
{
    if (!alloc_grow((void **)&region->parts, &region->capacity, region->count, sizeof(part))) {
        return 0;
    }
    memmove(&region->parts[at + 1], &region->parts[at], (region->count - at) * sizeof(part));
    region->parts[at] = part;
    region->count++;
    return 1;
}

static tapml_status open_region(struct region *region, enum shared_access access, uint64_t bytes)
{
    const int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL |
                      (access == SHARED_READ_ONLY ? F_SEAL_FUTURE_WRITE : 0);
    const int descriptor = memfd_create("tapml", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    *region = (struct region){.descriptor = descriptor, .bytes = bytes};
    if (region->descriptor < 0 || ftruncate(region->descriptor, (off_t)bytes) != 0) {
        char why[DESCRIPTORS_WHY_TEXT];
        return status_fail(TAPML_NO_MEMORY, "no shared memory of %llu bytes: %s",
                           (unsigned long long)bytes, descriptors_why(errno, why));
    }
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, region->descriptor, 0);
    if (memory == MAP_FAILED) {
        return status_fail(TAPML_NO_MEMORY, "shared memory of %llu bytes cannot be mapped: %s",
                           (unsigned long long)bytes, strerror(errno));
    }
    region->memory = memory;
    if (fcntl(region->descriptor, F_ADD_SEALS, seals) != 0) {
        return status_fail(TAPML_UNAVAILABLE, "shared memory cannot be sealed: %s",
                           strerror(errno));
    }
    return insert(region, 0, (struct shared_part){0, bytes, 0}) ? TAPML_OK : status_no_memory();
}

static tapml_status add_region(struct shared *shared, uint64_t bytes)
{
    if (!alloc_grow((void **)&shared->regions, &shared->capacity, shared->count,
                    sizeof(*shared->regions))) {
        return status_no_memory();
    }
    struct region region;
    const tapml_status status =
        open_region(&region, shared->access, bytes > REGION_BYTES ? bytes : REGION_BYTES);
    if (status != TAPML_OK) {
        region_release(&region);
        return status;
    }
    shared->regions[shared->count++] = region;
    return TAPML_OK;
}

// Cuts `bytes` off the first free part that has them.
static int cut(struct region *region, uint64_t bytes, uint64_t *out_offset)
{
    size_t at = 0;
    while (at < region->count && (region->parts[at].is_used || region->parts[at].bytes < bytes)) {
        at++;
    }
    if (at == region->count) {
        return 0;
    }
    const struct shared_part rest = {region->parts[at].offset + bytes,
                                     region->parts[at].bytes - bytes, 0};
    if (rest.bytes > 0 && !insert(region, at + 1, rest)) {
        return 0;
    }
    region->parts[at].bytes = bytes;
    region->parts[at].is_used = 1;
    *out_offset = region->parts[at].offset;
    return 1;
}

static int find(struct shared *shared, uint64_t bytes, struct shared_span *span)
{
    for (size_t i = 0; i < shared->count; i++) {
        if (cut(&shared->regions[i], bytes, &span->offset)) {
            span->region = (uint32_t)i;
            span->memory = shared->regions[i].memory + span->offset;
            return 1;
        }
    }
    return 0;
}

tapml_status shared_take(struct shared *shared, uint64_t bytes, struct shared_span *out_span)
{
    if (bytes == 0 || bytes > INT64_MAX - SHARED_ALIGN) {
        return status_fail(TAPML_INVALID, "a span of %llu bytes", (unsigned long long)bytes);
    }
    const uint64_t whole = (bytes + SHARED_ALIGN - 1) / SHARED_ALIGN * SHARED_ALIGN;
    struct shared_span span = {.bytes = bytes};
    if (!find(shared, whole, &span)) {
        TAPML_TRY(add_region(shared, whole));
        if (!find(shared, whole, &span)) {
            return status_no_memory();
        }
    }
    *out_span = span;
    return TAPML_OK;
}

// Joins a free part with the one behind it where that is free, too.
static void join(struct region *region, size_t at)
{
    if (at + 1 < region->count && !region->parts[at].is_used && !region->parts[at + 1].is_used) {
        region->parts[at].bytes += region->parts[at + 1].bytes;
        region->count--;
        memmove(&region->parts[at + 1], &region->parts[at + 2],
                (region->count - at - 1) * sizeof(*region->parts));
    }
}

// Gives whole pages to the system, which has zeros there from then on. A wish: read-only memory
// stays as it is.
static void forget(const struct region *region, const struct shared_part *part)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    const uint64_t begin = (part->offset + page - 1) / page * page;
    const uint64_t end = (part->offset + part->bytes) / page * page;
    if (begin < end) {
        (void)madvise(region->memory + begin, end - begin, MADV_REMOVE);
    }
}

void shared_give_back(struct shared *shared, const struct shared_span *span)
{
    struct region *region = &shared->regions[span->region];
    size_t at = 0;
    while (at < region->count && region->parts[at].offset != span->offset) {
        at++;
    }
    ASSERT(at < region->count && region->parts[at].is_used);
    region->parts[at].is_used = 0;
    if (span->bytes > KEPT_BYTES_MAX) {
        forget(region, &region->parts[at]);
    }
    join(region, at);
    if (at > 0) {
        join(region, at - 1);
    }
}

uint32_t shared_count(const struct shared *shared)
{
    return (uint32_t)shared->count;
}

uint64_t shared_bytes(const struct shared *shared, uint32_t region)
{
    return shared->regions[region].bytes;
}

unsigned char *shared_memory(const struct shared *shared, uint32_t region)
{
    return shared->regions[region].memory;
}

int shared_descriptor(const struct shared *shared, uint32_t region)
{
    return shared->regions[region].descriptor;
}
