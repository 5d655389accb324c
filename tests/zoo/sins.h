// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The part of zoo.h for plugins that break one rule each, SIN_NAME, which one check of
// tapml-plugin-check is to find: the functions that break it, and what puts them into the tables.
// Initialisers that stand later take the place of earlier ones.
#pragma once

#include <fcntl.h>
#include <stdlib.h>

// Offsets that no aligned transfer has: what prepares a check and looks at it is whole.
static inline uint64_t misplaced(uint64_t offset)
{
    return offset % 64 != 0 ? offset - 4 : offset;
}

#if defined(SIN_EXPORTS_MORE)
TAPML_EXPORT int zoo_helper(void);
int zoo_helper(void)
{
    return 0;
}

#elif defined(SIN_STATIC_TLS)
static __thread int zoo_calls __attribute__((tls_model("initial-exec")));
#undef ZOO_QUERY_DEED
#define ZOO_QUERY_DEED() ((void)++zoo_calls)

#elif defined(SIN_IMPORTS_SETENV)
#undef ZOO_QUERY_DEED
#define ZOO_QUERY_DEED()                                                                           \
    do {                                                                                           \
        if (query == NULL) {                                                                       \
            (void)setenv("ZOO", "1", 1);                                                           \
        }                                                                                          \
    } while (0)

#elif defined(SIN_CHANGES_FLOAT)
#undef ZOO_QUERY_DEED
#define ZOO_QUERY_DEED() flush_to_zero()

#elif defined(SIN_OPENS_IN_QUERY)
#undef ZOO_QUERY_DEED
#define ZOO_QUERY_DEED() ((void)open("/dev/null", O_RDONLY))

#elif defined(SIN_SPAWNS_IN_QUERY)
#include <spawn.h>

static void spawn_once(void)
{
    static int is_done;
    static char sleep[] = "sleep", time[] = "4321";
    char *const words[] = {sleep, time, NULL}, *const none[] = {NULL};
    pid_t process;

    if (!is_done) {
        is_done = posix_spawnp(&process, sleep, NULL, NULL, words, none) == 0;
    }
}
#undef ZOO_QUERY_DEED
#define ZOO_QUERY_DEED() spawn_once()

#elif defined(SIN_PRINTS_IN_QUERY)
#undef ZOO_QUERY_DEED
#define ZOO_QUERY_DEED() ((void)puts("here I am"))

#elif defined(SIN_ANOTHER_VERSION)
#define ZOO_PATCH_PLUGIN .version = "1.0.1",

#elif defined(SIN_RESERVED)
#define ZOO_PATCH_PLUGIN .reserved = 1,

#elif defined(SIN_REFUSES_LONGER)
#undef ZOO_ANSWER
#define ZOO_ANSWER(query) ((query)->hdr.struct_size == sizeof(tapml_query))

#elif defined(SIN_TAKES_SHORTER)
#undef ZOO_ANSWER
#define ZOO_ANSWER(query) ((query)->abi_major == 1)

#elif defined(SIN_ONE_MINOR)
#undef ZOO_ANSWER
#define ZOO_ANSWER(query)                                                                          \
    (TAPML_HAS(tapml_query, query, host_version) && (query)->abi_minor == TAPML_ABI_MINOR)

#elif defined(SIN_ENDS_FOR_GOOD)
static int zoo_is_shut;

static void shut(const tapml_component *self)
{
    zoo_is_shut = 1;
}

static tapml_status
probe_once(const tapml_component *self, const tapml_host *host, tapml_call *call)
{
    return zoo_is_shut ? TAPML_INTERNAL : TAPML_OK;
}
#define ZOO_PATCH_COMPONENT .shutdown = shut, .probe = probe_once,

#elif defined(SIN_ONE_HOST)
static const tapml_host *zoo_host; // The last one, whoever an object belongs to.
#undef ZOO_CREATE_DEED
#define ZOO_CREATE_DEED(out_root) ((void)(zoo_host = host))

static void release_to_the_last(tapml_object *object)
{
    own(object)->host = zoo_host;
    object_release(object);
}
#define ZOO_RELEASE               release_to_the_last

#elif defined(SIN_LEAKS)
#undef ZOO_CREATE_DEED
#define ZOO_CREATE_DEED(out_root) ((void)seed.core->alloc(host, 24, 8))

#elif defined(SIN_NEEDS_MORE)
static tapml_status
probe_minor(const tapml_component *self, const tapml_host *host, tapml_call *call)
{
    return host->abi_minor < TAPML_ABI_MINOR ? TAPML_INTERNAL : TAPML_OK;
}
#define ZOO_PATCH_COMPONENT .probe = probe_minor,

#elif defined(SIN_NO_QUEUE)
#define ZOO_PATCH_TABLE .queue_new = NULL,

#elif defined(SIN_NEW_IDS)
static tapml_status number_devices(tapml_object *backend,
                                   tapml_call *call,
                                   const tapml_device_info *const **out_list,
                                   uint32_t *out_count)
{
    static char id[16];
    static tapml_device_info info;
    static const tapml_device_info *list[] = {&info};
    static int asked;

    (void)snprintf(id, sizeof(id), "%d", ++asked);
    info = first;
    info.id = id;
    *out_list = list;
    *out_count = 1;
    return TAPML_OK;
}

static tapml_status
open_number(tapml_object *backend, tapml_call *call, const char *device_id, tapml_object **out)
{
    return open_device(backend, call,
                       device_id[0] >= '0' && device_id[0] <= '9' ? first.id : device_id, out);
}
#define ZOO_PATCH_TABLE .devices = number_devices, .open = open_number,

#elif defined(SIN_OPENS_ANYTHING)
static tapml_status
open_anything(tapml_object *backend, tapml_call *call, const char *device_id, tapml_object **out)
{
    return open_device(backend, call, first.id, out);
}
#define ZOO_PATCH_TABLE .open = open_anything,

#elif defined(SIN_SAYS_NOTHING)
static tapml_status
open_silently(tapml_object *backend, tapml_call *call, const char *device_id, tapml_object **out)
{
    return strcmp(device_id, first.id) == 0 ? open_device(backend, call, device_id, out)
                                            : TAPML_NOT_FOUND;
}
#define ZOO_PATCH_TABLE .open = open_silently,

#elif defined(SIN_LISTS_TWICE)
static tapml_status list_twice(tapml_object *device,
                               tapml_call *call,
                               const tapml_op_impl *const **out_list,
                               uint32_t *out_count)
{
    static const tapml_op_impl *const twice[] = {&scale_impl, &scale_impl};

    *out_list = twice;
    *out_count = 2;
    return TAPML_OK;
}
#define ZOO_PATCH_TABLE .ops = list_twice,

#elif defined(SIN_TYPES_OF_NOBODY) || defined(SIN_FORM_OF_NOBODY)
static tapml_status list_one(tapml_object *device,
                             tapml_call *call,
                             const tapml_op_impl *const **out_list,
                             uint32_t *out_count)
{
    static tapml_param x;
    static const tapml_param *params[] = {&x, NULL, NULL};
    static tapml_op op;
    static tapml_op_impl impl;
    static const tapml_op_impl *const one[] = {&impl};

    x = *org_example_scale.params[0];
    op = org_example_scale;
    op.params = params;
    params[1] = org_example_scale.params[1];
    params[2] = org_example_scale.params[2];
#ifdef SIN_TYPES_OF_NOBODY
    x.dtype = "f32 banana";
#else
    op.expands = "tapml.silo(x = x, y = y)";
#endif
    impl = scale_impl;
    impl.op = &op;
    *out_list = one;
    *out_count = 1;
    return TAPML_OK;
}
#define ZOO_PATCH_TABLE .ops = list_one,

#elif defined(SIN_WRONG_REFUSAL)
static tapml_status buffer_or_not(tapml_object *device,
                                  tapml_call *call,
                                  uint32_t memory_type,
                                  uint64_t size,
                                  tapml_object **out_buffer)
{
    return size > memory.max_bytes ? fail(own(device), call, TAPML_INVALID, "too large")
                                   : buffer_new(device, call, memory_type, size, out_buffer);
}
#define ZOO_PATCH_TABLE .buffer_new = buffer_or_not,

#elif defined(SIN_WRITES_BESIDE)
static tapml_status write_beside(tapml_object *queue,
                                 tapml_call *call,
                                 tapml_object *buffer,
                                 uint64_t offset,
                                 const void *source,
                                 uint64_t size)
{
    return queue_write(queue, call, buffer, misplaced(offset), source, size);
}
#define ZOO_PATCH_TABLE .queue_write = write_beside,

#elif defined(SIN_READS_BESIDE)
static tapml_status read_beside(tapml_object *queue,
                                tapml_call *call,
                                tapml_object *buffer,
                                uint64_t offset,
                                void *target,
                                uint64_t size)
{
    return queue_read(queue, call, buffer, misplaced(offset), target, size);
}
#define ZOO_PATCH_TABLE .queue_read = read_beside,

#elif defined(SIN_FILLS_BESIDE)
static tapml_status fill_beside(tapml_object *queue,
                                tapml_call *call,
                                tapml_object *buffer,
                                uint64_t offset,
                                uint64_t size,
                                uint32_t pattern)
{
    return queue_fill(queue, call, buffer, misplaced(offset), size, pattern);
}
#define ZOO_PATCH_TABLE .queue_fill = fill_beside,

#elif defined(SIN_COPIES_BESIDE)
static tapml_status copy_beside(tapml_object *queue,
                                tapml_call *call,
                                tapml_object *source,
                                uint64_t source_offset,
                                tapml_object *target,
                                uint64_t target_offset,
                                uint64_t size)
{
    return queue_copy(queue, call, source, misplaced(source_offset), target, target_offset, size);
}
#define ZOO_PATCH_TABLE .queue_copy = copy_beside,

#elif defined(SIN_WRAPS_A_COPY)
static tapml_status wrap_a_copy(tapml_object *device,
                                tapml_call *call,
                                void *existing,
                                uint64_t size,
                                uint32_t access,
                                tapml_object **out_buffer)
{
    const tapml_status status = buffer_new(device, call, 0, size, out_buffer);

    if (status == TAPML_OK) {
        memcpy(own(*out_buffer)->data, existing, size);
    }
    return status;
}
#define ZOO_PATCH_TABLE .buffer_wrap = wrap_a_copy,

#elif defined(SIN_WAITS_FOR_NOTHING)
static tapml_status
wait_for_nothing(tapml_object *timeline, tapml_call *call, uint64_t value, uint64_t timeout_ns)
{
    return TAPML_OK;
}
#define ZOO_PATCH_TABLE .timeline_wait = wait_for_nothing,

#elif defined(SIN_NOTIFIES_TWICE)
static tapml_status notify_twice(
    tapml_object *timeline, tapml_call *call, uint64_t value, tapml_notified function, void *user)
{
    function(user, TAPML_OK);
    return timeline_notify(timeline, call, value, function, user);
}
#define ZOO_PATCH_TABLE .timeline_notify = notify_twice,

#elif defined(SIN_FORGETS_THE_PAST)
static tapml_status notify_of_now(
    tapml_object *timeline, tapml_call *call, uint64_t value, tapml_notified function, void *user)
{
    return value < own(timeline)->reached ? TAPML_OK
                                          : timeline_notify(timeline, call, value, function, user);
}
#define ZOO_PATCH_TABLE .timeline_notify = notify_of_now,

#else
#include "sins_of_many_calls.h"
#endif
