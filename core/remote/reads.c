// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "remote/reads.h"

#include "base/alloc.h"
#include "base/assert.h"

#include <string.h>

static void free_hashes(struct reads *reads)
{
    for (size_t i = 0; i < reads->count; i++) {
        alloc_free(reads->items[i].hashes);
    }
}

void reads_release(struct reads *reads)
{
    free_hashes(reads);
    alloc_free(reads->items);
    alloc_free(reads->marks);
    *reads = (struct reads){.items = NULL};
}

tapml_status reads_add(struct reads *reads, const struct reads_span *span)
{
    void *items = reads->items;

    if (!alloc_grow(&items, &reads->capacity, reads->count, sizeof(*reads->items))) {
        return status_no_memory();
    }
    reads->items = items;
    reads->items[reads->count++] = *span;
    return TAPML_OK;
}

// Marks in front of all that is left say nothing any more.
static void drop_marks(struct reads *reads)
{
    size_t kept = 0;

    for (size_t i = 0; i < reads->mark_count; i++) {
        if (reads->marks[i].end > reads->done) {
            reads->marks[kept++] = reads->marks[i];
        }
    }
    reads->mark_count = kept;
}

tapml_status reads_mark(struct reads *reads, uint64_t point)
{
    void *marks = reads->marks;

    drop_marks(reads);
    if (!alloc_grow(&marks, &reads->mark_capacity, reads->mark_count, sizeof(*reads->marks))) {
        return status_no_memory();
    }
    reads->marks = marks;
    reads->marks[reads->mark_count++] = (struct reads_mark){point, reads_end(reads)};
    return TAPML_OK;
}

uint64_t reads_end(const struct reads *reads)
{
    return reads->done + reads->count;
}

uint64_t reads_end_of(const struct reads *reads, uint64_t point)
{
    for (size_t i = 0; i < reads->mark_count; i++) {
        if (reads->marks[i].point >= point) {
            return reads->marks[i].end;
        }
    }
    return reads_end(reads);
}

struct reads_span *reads_first(const struct reads *reads, uint64_t end)
{
    return reads->count > 0 && reads->done < end ? &reads->items[0] : NULL;
}

static void pop(struct reads *reads)
{
    alloc_free(reads->items[0].hashes);
    reads->count--;
    reads->done++;
    memmove(reads->items, reads->items + 1, reads->count * sizeof(*reads->items));
}

void reads_take(struct reads *reads, uint64_t bytes)
{
    ASSERT(reads->count > 0);
    struct reads_span *first = &reads->items[0];

    ASSERT(bytes <= first->bytes);
    first->offset += bytes;
    first->bytes -= bytes;
    first->taken += bytes;
    if (first->bytes == 0) {
        pop(reads);
    }
}

void reads_clear(struct reads *reads)
{
    free_hashes(reads);
    reads->done += reads->count;
    reads->count = 0;
    reads->mark_count = 0;
}
