// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/device_memory.h"

#include <string.h>

static int imports_pointers(const tapml_handle_kind *kind)
{
    return TAPML_HAS(tapml_handle_kind, kind, grain) && kind->id != NULL &&
           strcmp(kind->id, TAPML_HANDLE_POINTER) == 0 &&
           (kind->traits & TAPML_HANDLE_IMPORTS) != 0 && kind->grain > 0 &&
           DEVICE_MEMORY_PAGE_BYTES % kind->grain == 0;
}

struct device_memory device_memory_find(const tapml_backend *table,
                                        tapml_object *device,
                                        tapml_call *call,
                                        int is_host_memory)
{
    struct device_memory memory = {.table = table, .device = device};
    const tapml_memory_handles *handles = device->vt->interface_of(device, TAPML_MEMORY_HANDLES);
    const tapml_handle_kind *const *list = NULL;
    uint32_t count = 0;

    if (is_host_memory || !TAPML_HAS_FN(tapml_memory_handles, handles, kinds) ||
        !TAPML_HAS_FN(tapml_memory_handles, handles, buffer_import) ||
        handles->kinds(device, call, &list, &count) != TAPML_OK) {
        return memory;
    }
    for (uint32_t i = 0; i < count; i++) {
        memory.handles = imports_pointers(list[i]) ? handles : memory.handles;
    }
    return memory;
}

tapml_status device_memory_wrap(const struct device_memory *memory,
                                tapml_call *call,
                                void *begin,
                                uint64_t size,
                                uint32_t access,
                                tapml_object **out_buffer)
{
    const tapml_handle handle = {.hdr = TAPML_HDR(tapml_handle),
                                 .kind = TAPML_HANDLE_POINTER,
                                 .pointer = begin,
                                 .descriptor = -1,
                                 .size = size};

    if (memory->handles != NULL) {
        return memory->handles->buffer_import(memory->device, call, &handle, access, out_buffer);
    }
    return TAPML_HAS_FN(tapml_backend, memory->table, buffer_wrap)
               ? memory->table->buffer_wrap(memory->device, call, begin, size, access, out_buffer)
               : status_fail(TAPML_UNIMPLEMENTED, "the device cannot use memory of the host");
}
