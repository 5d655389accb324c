// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "object.h"

#include "identity.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { HEADER = (sizeof(struct object) + OBJECT_ALIGN - 1) / OBJECT_ALIGN * OBJECT_ALIGN };

static void object_release(tapml_object *base)
{
    struct object *object = object_of(base);

    object->core->free(object->host, object, object->size_bytes, OBJECT_ALIGN);
}

static const void *object_interface(tapml_object *object, const char *id)
{
    if (strcmp(id, TAPML_IDENTITY) == 0 && object_of(object)->device != NULL) {
        return &identity_table;
    }
    return strcmp(id, TAPML_KIND_BACKEND) == 0 ? object_of(object)->backend : NULL;
}

static const tapml_object_vt object_vt = {
    .hdr = TAPML_HDR(tapml_object_vt),
    .release = object_release,
    .interface_of = object_interface,
};

tapml_status object_new(const struct object *parent,
                        tapml_call *call,
                        uint64_t extra_bytes,
                        tapml_object **out_object)
{
    const size_t size = extra_bytes < SIZE_MAX - HEADER ? HEADER + (size_t)extra_bytes : SIZE_MAX;
    struct object *object = parent->core->alloc(parent->host, size, OBJECT_ALIGN);

    if (object == NULL) {
        return object_fail(parent, call, TAPML_NO_MEMORY, "no memory for %zu bytes", size);
    }
    *object = *parent;
    object->base.vt = &object_vt;
    object->size_bytes = size;
    object->data = (unsigned char *)object + HEADER;
    object->reached = 0;
    *out_object = &object->base;
    return TAPML_OK;
}

tapml_status object_fail(
    const struct object *object, tapml_call *call, tapml_status code, const char *format, ...)
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
