// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/device_table.h"

#include "base/alloc.h"
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

// What was meant by `word`: the nearest id, or the first that has the word in it.
static const char *guess(const char *word, const char *const *ids)
{
    const char *near = text_nearest(word, ids);
    for (size_t i = 0; !near && word[0] != '\0' && ids[i]; ++i) {
        near = strstr(ids[i], word) ? ids[i] : NULL;
    }
    return near;
}

static tapml_status no_device(const char *component, const char *id, const char *const *ids)
{
    const char *near = guess(id, ids);
    struct text names;
    if (!ids[0]) {
        return status_fail(TAPML_UNAVAILABLE, "%s: no device is there", component);
    }
    text_init(&names);
    for (size_t i = 0; ids[i]; ++i) {
        text_format(&names, " '%s'", ids[i]);
    }
    const tapml_status status =
        status_fail(TAPML_NOT_FOUND, "%s: no device '%s', there are:%s%s%s%s", component, id,
                    names.data, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    text_release(&names);
    return status;
}

tapml_status device_table_find_id(const char *component,
                                  const char *id,
                                  const char *const *ids,
                                  size_t *out_index)
{
    for (size_t i = 0; ids[i]; ++i) {
        if (!id || strcmp(ids[i], id) == 0) {
            *out_index = i;
            return TAPML_OK;
        }
    }
    return no_device(component, id ? id : "", ids);
}

tapml_status device_table_find(const char *component,
                               const char *device,
                               const tapml_device_info *const *list,
                               uint32_t count,
                               uint32_t *out_index)
{
    const char **ids = alloc_array((size_t)count + 1, sizeof(*ids));
    size_t index = 0;
    if (!ids) {
        return status_no_memory();
    }
    for (uint32_t i = 0; i < count; ++i) {
        ids[i] = list[i]->id;
    }
    const tapml_status status = device_table_find_id(component, device, ids, &index);
    alloc_free(ids);
    if (status == TAPML_OK) {
        *out_index = (uint32_t)index;
    }
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
