// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "link/staging.h"

#include "base/alloc.h"

#include <string.h>

void staging_release(struct staging *staging)
{
    alloc_free(staging->spans);
    alloc_free(staging->reads);
    *staging = (struct staging){0};
}

tapml_status staging_take(struct staging *staging,
                          struct shared *shared,
                          uint64_t size,
                          struct shared_span *out_span)
{
    if (!alloc_grow((void **)&staging->spans, &staging->capacity, staging->count,
                    sizeof(*staging->spans))) {
        return status_no_memory();
    }
    TAPML_TRY(shared_take(shared, size, out_span));
    staging->spans[staging->count++] = *out_span;
    staging->bytes += size;
    return TAPML_OK;
}

tapml_status staging_add_read(struct staging *staging, const struct staged_read *read)
{
    if (!alloc_grow((void **)&staging->reads, &staging->read_capacity, staging->read_count,
                    sizeof(*staging->reads))) {
        return status_no_memory();
    }
    staging->reads[staging->read_count++] = *read;
    return TAPML_OK;
}

void staging_end_reads(struct staging *staging, uint64_t point)
{
    size_t kept = 0;
    for (size_t i = 0; i < staging->read_count; i++) {
        const struct staged_read *read = &staging->reads[i];
        if (read->point > point) {
            staging->reads[kept++] = *read;
        } else {
            memcpy(read->target, read->memory, read->bytes);
        }
    }
    staging->read_count = kept;
}

void staging_clear(struct staging *staging, struct shared *shared)
{
    for (size_t i = 0; i < staging->count; i++) {
        shared_give_back(shared, &staging->spans[i]);
    }
    staging->count = 0;
    staging->bytes = 0;
    staging->read_count = 0;
}
