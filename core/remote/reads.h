// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Reads that were asked for and whose bytes are still to come over a stream, in their order. Both
// ends keep such a list: the far side sends the bytes in front of the answer to a wait, the near
// side takes none but these. One thread.
#pragma once

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

struct reads_span {
    uint32_t number; // Of a region.
    uint64_t offset, bytes;
    uint64_t taken;   // Bytes of it that have come, in front of `offset`.
    uint64_t *hashes; // On the far side, of what is expected (remote/expectation.h), or NULL.

    // On the near side: where the bytes come from, and what is known of that (remote/shadow.h).
    uint32_t buffer;
    uint64_t buffer_offset, changes;
    int is_expected; // The memory has what is expected.
};

struct reads_mark {
    uint64_t point; // Of link/message.h, and
    uint64_t end;   // how many reads stand in front of it.
};

// Zeroed to begin with. Reads are counted from the beginning of the list's life.
struct reads {
    struct reads_span *items;
    size_t count, capacity;
    uint64_t done; // Those in front of `items`.
    struct reads_mark *marks;
    size_t mark_count, mark_capacity;
};

void reads_release(struct reads *reads);

// Copies a span. Its hashes are the list's if that succeeds.
tapml_status reads_add(struct reads *reads, const struct reads_span *span) STATUS_USED;

// Notes that all reads so far stand in front of a point.
tapml_status reads_mark(struct reads *reads, uint64_t point) STATUS_USED;

// How many reads there are in all, and in front of a point: of one that is not remembered, all.
uint64_t reads_end(const struct reads *reads);
uint64_t reads_end_of(const struct reads *reads, uint64_t point);

// The oldest read, if its number is below `end`; else NULL. Of that `reads_take` takes the next
// `bytes`, and the read with the last of them.
struct reads_span *reads_first(const struct reads *reads, uint64_t end);
void reads_take(struct reads *reads, uint64_t bytes);

// Forgets all of them: what failed leaves nothing to be read.
void reads_clear(struct reads *reads);
