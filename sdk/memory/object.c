// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "handles.h"
#include "object_new.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    HEADER = (sizeof(struct memory_object) + MEMORY_OBJECT_ALIGN - 1) / MEMORY_OBJECT_ALIGN *
             MEMORY_OBJECT_ALIGN
};

static void release(tapml_object *base)
{
    struct memory_object *object = memory_object_of(base);

    if (object->root == NULL && object->component != NULL && object->component->end != NULL) {
        object->component->end(base);
    }
    memory_handles_release(object);
    object->core->free(object->host, object, object->size_bytes, MEMORY_OBJECT_ALIGN);
}

static const void *interface_of(tapml_object *base, const char *id)
{
    const struct memory_object *object = memory_object_of(base);

    if (strcmp(id, TAPML_KIND_BACKEND) == 0) {
        return &memory_backend_table;
    }
    if (object->device == NULL) {
        return NULL;
    }
    if (strcmp(id, TAPML_MEMORY_HANDLES) == 0) {
        return &memory_handles_table;
    }
    return object->component->interface_of != NULL ? object->component->interface_of(base, id)
                                                   : NULL;
}

static const tapml_object_vt object_vt = {
    .hdr = TAPML_HDR(tapml_object_vt),
    .release = release,
    .interface_of = interface_of,
};

tapml_status memory_object_new(const struct memory_object *parent,
                               tapml_call *call,
                               uint64_t extra_bytes,
                               tapml_object **out_object)
{
    const size_t size = extra_bytes < SIZE_MAX - HEADER ? HEADER + (size_t)extra_bytes : SIZE_MAX;
    struct memory_object *object = parent->core->alloc(parent->host, size, MEMORY_OBJECT_ALIGN);

    if (object == NULL) {
        return memory_fail(parent, call, TAPML_NO_MEMORY, "no memory for %zu bytes", size);
    }
    *object = *parent;
    object->base.vt = &object_vt;
    object->size_bytes = size;
    object->data = (unsigned char *)object + HEADER;
    object->bytes = extra_bytes;
    object->mapping = (struct memory_mapping){.memory = NULL};
    object->reached = 0;
    *out_object = &object->base;
    return TAPML_OK;
}

tapml_status memory_fail(const struct memory_object *object,
                         tapml_call *call,
                         tapml_status code,
                         const char *format,
                         ...)
{
    char text[256];
    va_list arguments;

    va_start(arguments, format);
    const int length = vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);

    const size_t bytes = length < 0 ? 0 : (size_t)length;

    return object->core->fail(call, code, 0, NULL, text,
                              bytes < sizeof(text) ? bytes : sizeof(text) - 1);
}
