// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tapml/backend.h>
#include <tapml/host.h>

struct device_list;
struct reference_device;

// What this plugin hands to the host: a root, a device, a queue, a buffer or a timeline. Work is
// done at once, so one struct is enough for all of them.
struct object {
    tapml_object base; // First, so that a `tapml_object *` is a `struct object *`.
    const tapml_host *host;
    const tapml_host_core *core;
    const tapml_host_work *work;           // NULL where the host has no pool.
    const tapml_backend *backend;          // What `interface_of` offers.
    const struct device_list *list;        // Of the component.
    const struct reference_device *device; // NULL for the root.
    size_t size_bytes;                     // Of this allocation.
    unsigned char *data;                   // A buffer's: behind this struct, or wrapped.
    uint64_t reached;                      // A timeline's.
};

// Every allocation begins on a multiple of this, and so does the memory of a buffer.
enum { OBJECT_ALIGN = 64 };

// The struct behind an object that this plugin made.
static inline struct object *object_of(tapml_object *object)
{
    return (struct object *)object;
}

// Makes an object with the host, the backend and the device of `parent`, and `extra_bytes` of
// undefined memory behind it, to which `data` points. The host releases it through its `vt`.
tapml_status object_new(const struct object *parent,
                        tapml_call *call,
                        uint64_t extra_bytes,
                        tapml_object **out_object);

// Says why `call` fails, and gives `code` back: `return object_fail(...);`. The text is cut at 255
// bytes. Any thread may call it.
tapml_status object_fail(const struct object *object,
                         tapml_call *call,
                         tapml_status code,
                         const char *format,
                         ...) __attribute__((format(printf, 4, 5)));
