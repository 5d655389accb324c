// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/device_table.h"

#include "base/arena.h"
#include "base/text.h"

#include <string.h>

tapml_status device_table_check(const tapml_backend *table)
{
    if (!TAPML_HAS(tapml_backend, table, timeline_wait)) {
        return status_fail(TAPML_ABI_MISMATCH, "its table of functions is too short");
    }
    const struct {
        const char *name;
        int is_there;
    } needed[] = {
        {"devices", table->devices != NULL},
        {"open", table->open != NULL},
        {"ops", table->ops != NULL},
        {"buffer_new", table->buffer_new != NULL},
        {"queue_new", table->queue_new != NULL},
        {"queue_write", table->queue_write != NULL},
        {"queue_read", table->queue_read != NULL},
        {"queue_copy", table->queue_copy != NULL},
        {"queue_fill", table->queue_fill != NULL},
        {"queue_signal", table->queue_signal != NULL},
        {"timeline_new", table->timeline_new != NULL},
        {"timeline_value", table->timeline_value != NULL},
        {"timeline_wait", table->timeline_wait != NULL},
    };
    for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); ++i) {
        if (!needed[i].is_there) {
            return status_fail(TAPML_ABI_MISMATCH, "its table of functions has no '%s'",
                               needed[i].name);
        }
    }
    return TAPML_OK;
}

tapml_status device_table_check_list(const tapml_device_info *const *list, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i) {
        const tapml_device_info *info = list[i];
        if (!TAPML_HAS(tapml_device_info, info, memory_types) || !info->id || !info->name) {
            return status_fail(TAPML_ABI_MISMATCH, "device %u is described by too short a struct",
                               i);
        }
        if (info->n_memory_types == 0 || !info->memory_types ||
            !TAPML_HAS(tapml_memory_type, info->memory_types[0], max_bytes)) {
            return status_fail(TAPML_ABI_MISMATCH, "device '%s' describes no memory", info->id);
        }
    }
    return TAPML_OK;
}

tapml_status device_table_find(const char *component,
                               const char *device,
                               const tapml_device_info *const *list,
                               uint32_t count,
                               uint32_t *out_index)
{
    struct text names;
    for (uint32_t i = 0; i < count; ++i) {
        if (!device || strcmp(list[i]->id, device) == 0) {
            *out_index = i;
            return TAPML_OK;
        }
    }
    text_init(&names);
    for (uint32_t i = 0; i < count; ++i) {
        text_format(&names, " '%s'", list[i]->id);
    }
    const tapml_status status =
        count == 0 ? status_fail(TAPML_UNAVAILABLE, "%s: no device is there", component)
                   : status_fail(TAPML_NOT_FOUND, "%s: no device '%s', there are:%s", component,
                                 device, names.data);
    text_release(&names);
    return status;
}

tapml_status device_table_describe(const tapml_backend *table,
                                   const tapml_device_info *info,
                                   struct arena *arena,
                                   struct backend_info *io_info)
{
    io_info->device = arena_text(arena, info->id);
    io_info->device_name = arena_text(arena, info->name);
    io_info->driver = arena_text(arena, info->driver ? info->driver : "");
    io_info->is_host_memory = (info->traits & TAPML_DEVICE_HOST_MEMORY) != 0 &&
                              TAPML_HAS_FN(tapml_backend, table, buffer_wrap);
    io_info->takes = ((info->traits & TAPML_DEVICE_FILE_BLOCKS) != 0 ? ENCODING_TAKES_BLOCKS : 0u) |
                     ((info->traits & TAPML_DEVICE_TILES) != 0 ? ENCODING_TAKES_TILES : 0u);
    io_info->buffer_bytes_max = info->memory_types[0]->max_bytes;
    io_info->memory_bytes = info->memory_total;
    return io_info->device && io_info->device_name && io_info->driver ? TAPML_OK
                                                                      : status_no_memory();
}
