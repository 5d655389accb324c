// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The memory that messages of a link name, on both ends of a stream: regions, and imports, whose
// numbers have MESSAGE_IS_IMPORT (link/message.h). The host maps its own, which came with a
// descriptor; the far side makes its own of the same size. One thread.
#pragma once

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

struct mirror_memory {
    unsigned char *memory; // NULL: there is none of this number.
    uint64_t bytes;
    struct shared *made; // It was made here; NULL: it was mapped.
};

// Zeroed to begin with.
struct mirror {
    struct mirror_list {
        struct mirror_memory *items;
        size_t count, capacity;
    } lists[2];
    uint64_t bytes_made; // Of all that was made.
};

void mirror_release(struct mirror *mirror);

// The number of the next region.
uint32_t mirror_next_region(const struct mirror *mirror);

// Maps memory of the host by its descriptor, which stays the caller's. Imports are only read.
tapml_status
mirror_map(struct mirror *mirror, uint32_t number, int descriptor, uint64_t bytes) STATUS_USED;

// Makes memory that reads as zeros. Its descriptor, which is the mirror's, shows imports to be read
// only. TAPML_INVALID where there is memory of this number, or more than `bytes_max` in all.
tapml_status mirror_make(struct mirror *mirror,
                         uint32_t number,
                         uint64_t bytes,
                         uint64_t bytes_max,
                         int *out_descriptor) STATUS_USED;

// Unmaps an import. A number that has none is fine.
void mirror_drop(struct mirror *mirror, uint32_t number);

// A span of it; NULL where it does not lie in memory of this number.
unsigned char *
mirror_span(const struct mirror *mirror, uint32_t number, uint64_t offset, uint64_t bytes);
