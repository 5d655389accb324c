// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "object.h"

#include "device.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { ALIGN = 64, TEXT = 256 };

static void object_release(tapml_object *base)
{
    struct object *object = object_of(base);

    if (object->end != NULL) {
        object->end(object);
    }
    object->core->free(object->host, object, object->size_bytes, ALIGN);
}

static const void *object_interface(tapml_object *object, const char *id)
{
    return strcmp(id, TAPML_KIND_BACKEND) == 0 ? object_of(object)->backend
                                               : device_interface(object, id);
}

static const tapml_object_vt object_vt = {
    .hdr = TAPML_HDR(tapml_object_vt),
    .release = object_release,
    .interface_of = object_interface,
};

tapml_status
object_new(const struct object *parent, tapml_call *call, size_t bytes, tapml_object **out_object)
{
    struct object *object = parent->core->alloc(parent->host, bytes, ALIGN);

    if (object == NULL) {
        return object_fail(parent, call, TAPML_NO_MEMORY, "out of memory");
    }
    memset(object, 0, bytes);
    *object = (struct object){
        .base = {&object_vt},
        .host = parent->host,
        .core = parent->core,
        .backend = parent->backend,
        .size_bytes = bytes,
        .root = parent->root,
        .device = parent->device,
    };
    *out_object = &object->base;
    return TAPML_OK;
}

tapml_status object_fail(
    const struct object *object, tapml_call *call, tapml_status code, const char *format, ...)
{
    char text[TEXT];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    return object->core->fail(call, code, 0, "ggml", text, strlen(text));
}
