// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A whole backend plugin in ordinary memory. Each animal of the zoo is this plugin with one thing
// wrong: it defines the macro for that thing and includes this file.
#pragma once

#include "zoo_helpers.h"
#include "zoo_ops.h"

#include <tapml/backend.h>
#include <tapml/host.h>
#include <tapml/ops.h>
#include <tapml/plugin.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include ZOO_NOTE

#ifndef ZOO_ID
#define ZOO_ID "org.example." ZOO_NAME
#endif
#ifndef ZOO_NEEDED
#define ZOO_NEEDED TAPML_TARGET_MINOR
#endif
#ifndef ZOO_PROBE
#define ZOO_PROBE NULL
#endif
#ifndef ZOO_DEVICE_COUNT
#define ZOO_DEVICE_COUNT 2
#endif
#ifndef ZOO_PLUGIN_BYTES
#define ZOO_PLUGIN_BYTES sizeof(tapml_plugin)
#endif
#ifndef ZOO_TABLE_BYTES
#define ZOO_TABLE_BYTES sizeof(tapml_backend)
#endif
#ifndef ZOO_MEMORY_TRAITS
#define ZOO_MEMORY_TRAITS 0
#endif
#ifndef ZOO_MAX_BYTES
#define ZOO_MAX_BYTES (1 << 20)
#endif
#ifndef ZOO_NEEDS
#define ZOO_NEEDS NULL
#endif

// A backend, device, queue, buffer or timeline: one struct is enough where work is done at once.
struct object {
    tapml_object base; // First, so that a `tapml_object *` is a `struct object *`.
    const tapml_host *host;
    const tapml_host_core *core;
    size_t size;         // Of this allocation.
    unsigned char *data; // A buffer's: behind this struct, or wrapped.
    uint64_t reached;    // A timeline's.
    uint64_t calls;      // A queue's: op calls so far.
    uint64_t wrong;      // A queue's: the call whose error is still to come; 0: none.

    // A timeline's: what is to be notified of that error.
    tapml_notified notified;
    void *user;
};

enum { ALIGN = 64, HEADER = (sizeof(struct object) + ALIGN - 1) / ALIGN * ALIGN };

static const tapml_object_vt object_vt;

static struct object *own(tapml_object *object)
{
    return (struct object *)object;
}

static tapml_status
fail(const struct object *object, tapml_call *call, tapml_status code, const char *message)
{
    return object->core->fail(call, code, -7, "zoo", message, strlen(message));
}

static tapml_status
object_new(const struct object *parent, tapml_call *call, uint64_t extra, tapml_object **out)
{
    const size_t size = HEADER + (size_t)extra;
    struct object *object = parent->core->alloc(parent->host, size, ALIGN);
    if (object == NULL) {
        return fail(parent, call, TAPML_NO_MEMORY, "out of memory");
    }
    memset(object, 0, sizeof(*object));
    object->base.vt = &object_vt;
    object->host = parent->host;
    object->core = parent->core;
    object->size = size;
    object->data = (unsigned char *)object + HEADER;
    *out = &object->base;
    return TAPML_OK;
}

static void notify_of_error(struct object *timeline); // In zoo_queue.h.

static void object_release(tapml_object *object)
{
    notify_of_error(own(object));
    own(object)->core->free(own(object)->host, object, own(object)->size, ALIGN);
}

// -- Ops ---------------------------------------------------------------------------------------

static float *floats(const tapml_tensor *tensor)
{
    return (float *)(void *)(own(tensor->buffer)->data + tensor->offset);
}

static int64_t count_of(const tapml_tensor *tensor)
{
    int64_t count = 1;
    for (uint32_t axis = 0; axis < tensor->rank; ++axis) {
        count *= tensor->shape[axis];
    }
    return count;
}

static tapml_status zoo_scale(ORG_EXAMPLE_SCALE_PARAMS)
{
    ++own(queue)->calls;
    for (int64_t i = 0; i < count_of(x); ++i) {
        floats(y)[i] = (float)(factor * floats(x)[i]);
    }
    return TAPML_OK;
}

static tapml_status zoo_sum(ORG_EXAMPLE_SUM_PARAMS)
{
    ++own(queue)->calls;
    for (int64_t i = 0; i < count_of(y); ++i) {
        double sum = bias != NULL ? floats(bias)[i] : 0.0;
        for (uint64_t k = 0; k < xs_count; ++k) {
            sum += floats(xs[k])[i];
        }
        floats(y)[i] = (float)sum;
    }
    return TAPML_OK;
}

static tapml_status zoo_trouble(ORG_EXAMPLE_TROUBLE_PARAMS)
{
    ++own(queue)->calls;
    memcpy(floats(y), floats(x), (size_t)count_of(x) * sizeof(float));
    if (how == 1) {
        return fail(own(queue), call, TAPML_INVALID, "trouble at once");
    }
    if (how == 2) {
        own(queue)->wrong = own(queue)->calls;
    } else if (how == 3) {
        flush_to_zero();
    }
    if (how == 5) {
        return fail(own(queue), call, TAPML_DEVICE_LOST, "trouble for good");
    }
    return how == 4 ? TAPML_NO_MEMORY : TAPML_OK;
}

#ifdef ZOO_OP_DEED
#define ZOO_OP_FILE "zoo_silu.h"
#endif
#ifdef ZOO_OP_FILE
#include ZOO_OP_FILE
#endif

static const tapml_op_impl scale_impl = TAPML_IMPL(org_example_scale, zoo_scale);
static const tapml_op_impl sum_impl = TAPML_IMPL(org_example_sum, zoo_sum);
static const tapml_op_impl trouble_impl = TAPML_IMPL(org_example_trouble, zoo_trouble);
#ifdef ZOO_OP
static const tapml_op_impl *const impls[] = {&scale_impl, &sum_impl, &trouble_impl, &ZOO_OP};
#else
static const tapml_op_impl *const impls[] = {&scale_impl, &sum_impl, &trouble_impl};
#endif

static tapml_status ops(tapml_object *device,
                        tapml_call *call,
                        const tapml_op_impl *const **out_list,
                        uint32_t *out_count)
{
    *out_list = impls;
    *out_count = sizeof(impls) / sizeof(*impls);
    return TAPML_OK;
}

static tapml_status supports(tapml_object *device,
                             tapml_call *call,
                             const tapml_op *op,
                             const tapml_value *args,
                             uint32_t n_args,
                             tapml_support *answer)
{
    const int is_trouble = strcmp(op->name, org_example_trouble.name) == 0;
    ZOO_SUPPORTS_DEED(op->name);
    if (refuses_half(args, n_args, answer)) {
        return TAPML_OK;
    }
    answer->grade = is_trouble ? TAPML_SUPPORT_NO : TAPML_SUPPORT_YES;
    snprintf(answer->reason, sizeof(answer->reason), "%s", is_trouble ? "it is trouble" : "");
    return TAPML_OK;
}

// -- Devices and buffers -----------------------------------------------------------------------

static const tapml_memory_type memory = {.hdr = TAPML_HDR(tapml_memory_type),
                                         .traits = ZOO_MEMORY_TRAITS,
                                         .align = ALIGN,
                                         .max_bytes = ZOO_MAX_BYTES};
static const tapml_memory_type *const memories[] = {&memory};
static const tapml_device_info first = {
    .hdr = TAPML_HDR(tapml_device_info),
    .id = "first",
    .name = "ordinary memory",
    .traits = TAPML_DEVICE_HOST_MEMORY | TAPML_DEVICE_DETERMINISTIC,
    .n_memory_types = 1,
    .memory_types = memories,
};
static const tapml_device_info second = {
    .hdr = TAPML_HDR(tapml_device_info),
    .id = "0000:02/b",
    .name = "the same, with a name of colons and a slash",
    .driver = "zoo 1.0",
    .n_memory_types = 1,
    .memory_types = memories,
};
static const tapml_device_info *const infos[] = {&first, &second};

static tapml_status devices(tapml_object *backend,
                            tapml_call *call,
                            const tapml_device_info *const **out_list,
                            uint32_t *out_count)
{
    *out_list = infos;
    *out_count = ZOO_DEVICE_COUNT;
    return TAPML_OK;
}

static tapml_status
open_device(tapml_object *backend, tapml_call *call, const char *device_id, tapml_object **out)
{
    for (uint32_t i = 0; i != ZOO_DEVICE_COUNT; ++i) {
        if (strcmp(infos[i]->id, device_id) == 0) {
            return object_new(own(backend), call, 0, out);
        }
    }
    return fail(own(backend), call, TAPML_NOT_FOUND, "no such device");
}

static tapml_status buffer_new(tapml_object *device,
                               tapml_call *call,
                               uint32_t memory_type,
                               uint64_t size,
                               tapml_object **out_buffer)
{
    ZOO_BUFFER_DEED();
    return size > memory.max_bytes ? fail(own(device), call, TAPML_NO_MEMORY, "too large")
                                   : object_new(own(device), call, size, out_buffer);
}

static tapml_status buffer_wrap(tapml_object *device,
                                tapml_call *call,
                                void *existing,
                                uint64_t size,
                                uint32_t access,
                                tapml_object **out_buffer)
{
    ZOO_BUFFER_DEED();
    const tapml_status status = object_new(own(device), call, 0, out_buffer);
    if (status == TAPML_OK) {
        own(*out_buffer)->data = existing;
    }
    return status;
}

#include "zoo_queue.h"

// The functions of a sin, each around a good one, and macros that put them into the tables.
#ifdef ZOO_SIN
#include "sins.h"
#endif
#ifndef ZOO_PATCH_TABLE
#define ZOO_PATCH_TABLE
#endif
#ifndef ZOO_PATCH_COMPONENT
#define ZOO_PATCH_COMPONENT
#endif
#ifndef ZOO_PATCH_PLUGIN
#define ZOO_PATCH_PLUGIN
#endif
#ifndef ZOO_RELEASE
#define ZOO_RELEASE object_release
#endif
#ifndef ZOO_ANSWER
#define ZOO_ANSWER(query) TAPML_HAS(tapml_query, query, host_version)
#endif

// -- The component and the plugin --------------------------------------------------------------

static const tapml_backend table = {.hdr = {(uint32_t)ZOO_TABLE_BYTES, 0},
                                    .devices = devices,
                                    .open = open_device,
                                    .ops = ops,
                                    .supports = supports,
                                    .buffer_new = buffer_new,
                                    .buffer_wrap = buffer_wrap,
#ifndef ZOO_NO_QUEUE
                                    .queue_new = queue_new,
#endif
                                    .queue_write = queue_write,
                                    .queue_read = queue_read,
                                    .queue_copy = queue_copy,
                                    .queue_fill = queue_fill,
                                    .queue_signal = queue_signal,
                                    .timeline_new = timeline_new,
                                    .timeline_value = timeline_value,
                                    .timeline_wait = timeline_wait,
                                    .timeline_notify = timeline_notify,
                                    ZOO_PATCH_TABLE};

static uint64_t launches(tapml_object *queue)
{
    return own(queue)->calls * 3;
}

static const tapml_counters counters = {.hdr = TAPML_HDR(tapml_counters), .launches = launches};

#ifndef ZOO_INTERFACE
#define ZOO_INTERFACE(id) NULL
#endif

static const void *object_interface(tapml_object *object, const char *id)
{
    if (strcmp(id, TAPML_COUNTERS) == 0) {
        return &counters;
    }
    return strcmp(id, TAPML_KIND_BACKEND) == 0 ? (const void *)&table : ZOO_INTERFACE(id);
}

static const tapml_object_vt object_vt = {
    .hdr = TAPML_HDR(tapml_object_vt),
    .release = ZOO_RELEASE,
    .interface_of = object_interface,
};

static tapml_status create(const tapml_component *component,
                           const tapml_host *host,
                           tapml_call *call,
                           tapml_object **out_root)
{
    const struct object seed = {.host = host, .core = host->interface_of(host, TAPML_HOST_CORE)};
    ZOO_CREATE_DEED(out_root);
    return object_new(&seed, call, 0, out_root);
}

static const tapml_component component = {.hdr = TAPML_HDR(tapml_component),
                                          .kind = TAPML_KIND_BACKEND,
                                          .id = ZOO_COMPONENT,
                                          .title = "The zoo's " ZOO_NAME,
                                          .host_needs = ZOO_NEEDS,
                                          .probe = ZOO_PROBE,
                                          .create = create,
                                          ZOO_PATCH_COMPONENT};
static const tapml_component *const components[] = {&component};
static const tapml_plugin plugin = {.hdr = {(uint32_t)ZOO_PLUGIN_BYTES, 0},
                                    .abi_major = TAPML_ABI_MAJOR,
                                    .abi_built = TAPML_ABI_MINOR,
                                    .abi_needed = ZOO_NEEDED,
                                    .sanitizer = TAPML_SANITIZER,
                                    .id = ZOO_ID,
                                    .version = "1.0.0",
                                    .vendor = "example",
                                    .license = "Apache-2.0",
                                    .n_components = 1,
                                    .components = components,
                                    ZOO_PATCH_PLUGIN};

tapml_status tapml_plugin_query_v1(const tapml_query *query, const tapml_plugin **out_plugin)
{
    ZOO_QUERY_DEED();
    if (!(ZOO_ANSWER(query))) {
        return TAPML_ABI_MISMATCH;
    }
    *out_plugin = &plugin;
    return TAPML_OK;
}
