// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#ifndef TAPML_MEMORY_OBJECT_H
#define TAPML_MEMORY_OBJECT_H

#include <tapml/memory/backend.h>

#ifdef __cplusplus
extern "C" {
#endif

// The file behind a buffer, and where it is mapped (TAPML_HANDLE_FILE). Of this library.
struct memory_mapping {
    void *memory; // From the begin of a page on; NULL: none.
    size_t bytes;
    int descriptor;
    uint64_t offset, size; // Of the buffer in the file; size 0: no file.
};

// What such a plugin hands to the host: a root, a device, a queue, a buffer or a timeline. Work is
// done at once, so one struct is enough for all of them. The plugin reads it.
struct memory_object {
    tapml_object base; // First, so that a `tapml_object *` is a `struct memory_object *`.
    const tapml_host *host;
    const tapml_host_core *core;
    const tapml_host_work *work;              // NULL where the host has no pool.
    const struct memory_component *component; // Of the root.
    const void *device;                       // Of the plugin; NULL for the root.
    struct memory_object *root;               // NULL for the root itself.
    size_t size_bytes;                        // Of this allocation.
    unsigned char *data;                      // A buffer's: behind this struct, or wrapped.
    uint64_t bytes;                           // A buffer's size.
    struct memory_mapping mapping;            // A buffer's, if a file is behind it.
    uint64_t reached;                         // A timeline's.
};

// Every allocation begins on a multiple of this, and so does the memory of a buffer.
enum { MEMORY_OBJECT_ALIGN = 64 };

// The struct behind an object.
static inline struct memory_object *memory_object_of(tapml_object *object)
{
    return (struct memory_object *)object;
}

// The first element of a tensor that has a buffer.
static inline void *memory_at(const tapml_tensor *tensor)
{
    return memory_object_of(tensor->buffer)->data + tensor->offset;
}

// Says why `call` fails, and gives `code` back: `return memory_fail(...);`. The text is cut at 255
// bytes. Any thread may call it.
tapml_status memory_fail(const struct memory_object *object,
                         tapml_call *call,
                         tapml_status code,
                         const char *format,
                         ...) __attribute__((format(printf, 4, 5)));

#ifdef __cplusplus
}
#endif

#endif
