// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Memory of the host as a buffer of a device: by its table (buffer_wrap), where it is a device of
// host memory, else by tapml.memory_handles/1, where it imports pointers.
//
// One thread, that of the device. What a device answers is checked.
#pragma once

#include "base/status.h"

#include <tapml/backend.h>

// The size of the pages that an import is made of, of every machine: the grain of a device's kind
// has to divide it.
enum { DEVICE_MEMORY_PAGE_BYTES = 4096 };

struct device_memory {
    const tapml_backend *table;
    tapml_object *device;
    const tapml_memory_handles *handles; // NULL: no pointer is imported, or none has to be.
};

// Looks for the interface. A table that is too short, or a kind with a grain that is none, is as
// none at all.
struct device_memory device_memory_find(const tapml_backend *table,
                                        tapml_object *device,
                                        tapml_call *call,
                                        int is_host_memory);

// Makes the buffer. TAPML_UNIMPLEMENTED if the device has neither; else as the plugin answers.
tapml_status device_memory_wrap(const struct device_memory *memory,
                                tapml_call *call,
                                void *begin,
                                uint64_t size,
                                uint32_t access,
                                tapml_object **out_buffer) STATUS_USED;
