// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "exec/residency_set.h"

#include "exec/transfer.h"

#include <string.h>

const struct resident_file *
residency_set_file(const struct residency *set, const void *data, uint64_t bytes)
{
    for (size_t i = 0; i < set->shared_count; i++) {
        const struct file_map *map = &set->shared[i].map;
        const uint64_t offset = (uintptr_t)data - (uintptr_t)map->data;
        if (offset < map->size && bytes <= map->size - offset) {
            return &set->shared[i];
        }
    }
    return NULL;
}

static tapml_status write(struct residency *set,
                          const struct residency_spot *spot,
                          uint64_t at,
                          const void *source,
                          uint64_t bytes)
{
    if (spot->is_aside && bytes > 0) {
        return backend_aside(set->backend, &(struct backend_aside){.kind = BACKEND_ASIDE_WRITE,
                                                                   .buffer = spot->buffer,
                                                                   .offset = spot->offset + at,
                                                                   .source = source,
                                                                   .size = bytes});
    }
    return transfer_to(set->backend, spot->buffer, spot->offset + at, source, bytes);
}

tapml_status residency_set_write(struct residency *set,
                                 struct resident_panel *panel,
                                 const struct residency_spot *spot)
{
    const uint64_t bulk = panel->bytes / RESIDENCY_GRAIN * RESIDENCY_GRAIN;
    TAPML_TRY(write(set, spot, 0, panel->data, bulk));
    if (panel->bytes == bulk) {
        return TAPML_OK;
    }
    memcpy(panel->tail, panel->data + bulk, panel->bytes - bulk);
    return write(set, spot, bulk, panel->tail, RESIDENCY_GRAIN);
}
