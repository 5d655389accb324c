// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Bytes on their way over a link: spans of shared memory that queued transfers use, and the reads
// that end with a wait.
//
// One thread. TAPML_NO_MEMORY.
#pragma once

#include "base/shared.h"
#include "base/status.h"

#include <stddef.h>

struct staged_read {
    uint64_t point; // The first one behind it.
    void *target;
    const unsigned char *memory;
    uint64_t bytes;
};

// Zeroed to begin with.
struct staging {
    struct shared_span *spans;
    size_t count, capacity;
    uint64_t bytes; // Of the spans.
    struct staged_read *reads;
    size_t read_count, read_capacity;
};

void staging_release(struct staging *staging);

// Takes a span of `size` bytes of `shared`, until `staging_clear`.
tapml_status staging_take(struct staging *staging,
                          struct shared *shared,
                          uint64_t size,
                          struct shared_span *out_span) STATUS_USED;

// Notes that what the far side reads into a span goes to a place in memory. Copied.
tapml_status staging_add_read(struct staging *staging, const struct staged_read *read) STATUS_USED;

// Copies what was read in front of `point` to its place in memory.
void staging_end_reads(struct staging *staging, uint64_t point);

// Gives the spans back and forgets the reads: nothing is queued any more.
void staging_clear(struct staging *staging, struct shared *shared);
