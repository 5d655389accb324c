// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "library.h"

#include <tapml/backend.h>
#include <tapml/host.h>

#include <pthread.h>
#include <stddef.h>

// A weight in another type of the library, with the same values, beside its buffer.
struct packed {
    struct packed *next;
    uint64_t offset;     // Of the weight in its buffer,
    enum ggml_type from; // its type there, or that with the same values,
    size_t count;        // and its blocks, or its values.
    ggml_backend_buffer_t memory;
};

// What this plugin hands to the host: a root, a device, a queue, a buffer or a timeline.
struct object {
    tapml_object base; // First, so that a `tapml_object *` is a `struct object *`.
    const tapml_host *host;
    const tapml_host_core *core;
    const tapml_backend *backend; // What `interface_of` offers.
    size_t size_bytes;            // Of this allocation.
    struct root *root;            // device.h
    struct device *device;        // device.h; NULL of the root.

    void (*end)(struct object *object); // Before it is freed; NULL: nothing to end.

    ggml_backend_buffer_t memory; // A buffer's.
    struct packed *packed;        // A buffer's; dropped when something is written to it.
    uint64_t reached;             // A timeline's.
};

// The struct behind an object that this plugin made.
static inline struct object *object_of(tapml_object *object)
{
    return (struct object *)object;
}

// Makes an object of the host, the root and the device of `parent`, `bytes` large and zero behind
// these. The host releases it through its `vt`.
tapml_status
object_new(const struct object *parent, tapml_call *call, size_t bytes, tapml_object **out_object);

// Says why `call` fails, and gives `code` back: `return object_fail(...);`. The text is cut at 255
// bytes.
tapml_status object_fail(const struct object *object,
                         tapml_call *call,
                         tapml_status code,
                         const char *format,
                         ...) __attribute__((format(printf, 4, 5)));
