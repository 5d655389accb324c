// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The part of sins.h whose rules break between queues and threads, in buffers that are large or
// shown, and in the symbols of the library.
#pragma once

#if defined(SIN_SHARES_A_SYMBOL)
// Whichever library brings it first has it for all: what C++ makes of inline variables.
TAPML_EXPORT int zoo_shared;
int zoo_shared = 1;
__asm__(".type zoo_shared, %gnu_unique_object");

#elif defined(SIN_NEEDS_THE_HOST)
// The host happens to be linked with a library that has it; the plugin is not.
int sqlite3_libversion_number(void);
#undef ZOO_QUERY_DEED
#define ZOO_QUERY_DEED() ((void)sqlite3_libversion_number())

#elif defined(SIN_SHOWS_THE_BEGIN)
static tapml_status map_begin(tapml_object *buffer,
                              tapml_call *call,
                              uint64_t offset,
                              uint64_t size,
                              uint32_t access,
                              void **out_memory)
{
    *out_memory = own(buffer)->data;
    return TAPML_OK;
}

static tapml_status unmap(tapml_object *buffer, tapml_call *call)
{
    return TAPML_OK;
}
#define ZOO_PATCH_TABLE .buffer_map = map_begin, .buffer_unmap = unmap,

#elif defined(SIN_ENDS_MEET)
enum { FOLD = 16 << 20 }; // Bytes behind which a buffer begins again.

static tapml_status write_folded(tapml_object *queue,
                                 tapml_call *call,
                                 tapml_object *buffer,
                                 uint64_t offset,
                                 const void *source,
                                 uint64_t size)
{
    return queue_write(queue, call, buffer, offset % FOLD, source, size);
}

static tapml_status read_folded(tapml_object *queue,
                                tapml_call *call,
                                tapml_object *buffer,
                                uint64_t offset,
                                void *target,
                                uint64_t size)
{
    return queue_read(queue, call, buffer, offset % FOLD, target, size);
}
#define ZOO_PATCH_TABLE .queue_write = write_folded, .queue_read = read_folded,

#elif defined(SIN_WAITS_FOR_NO_QUEUE)
// The last fill of this thread, which happens with the next work of its queue, or a look at a
// timeline: a queue that waits for its signal does not see it.
static _Thread_local struct {
    tapml_object *queue, *buffer; // NULL: there is none.
    uint64_t offset, size;
    uint32_t pattern;
} zoo_fill;

static void settle_fill(tapml_object *queue, tapml_call *call)
{
    if (zoo_fill.buffer != NULL && (queue == NULL || queue == zoo_fill.queue)) {
        (void)queue_fill(zoo_fill.queue, call, zoo_fill.buffer, zoo_fill.offset, zoo_fill.size,
                         zoo_fill.pattern);
        zoo_fill.buffer = NULL;
    }
}

static tapml_status fill_later(tapml_object *queue,
                               tapml_call *call,
                               tapml_object *buffer,
                               uint64_t offset,
                               uint64_t size,
                               uint32_t pattern)
{
    settle_fill(NULL, call);
    zoo_fill.queue = queue;
    zoo_fill.buffer = buffer;
    zoo_fill.offset = offset;
    zoo_fill.size = size;
    zoo_fill.pattern = pattern;
    return TAPML_OK;
}

static tapml_status write_behind(tapml_object *queue,
                                 tapml_call *call,
                                 tapml_object *buffer,
                                 uint64_t offset,
                                 const void *source,
                                 uint64_t size)
{
    settle_fill(queue, call);
    return queue_write(queue, call, buffer, offset, source, size);
}

static tapml_status read_behind(tapml_object *queue,
                                tapml_call *call,
                                tapml_object *buffer,
                                uint64_t offset,
                                void *target,
                                uint64_t size)
{
    settle_fill(queue, call);
    return queue_read(queue, call, buffer, offset, target, size);
}

static tapml_status copy_behind(tapml_object *queue,
                                tapml_call *call,
                                tapml_object *source,
                                uint64_t source_offset,
                                tapml_object *target,
                                uint64_t target_offset,
                                uint64_t size)
{
    settle_fill(queue, call);
    return queue_copy(queue, call, source, source_offset, target, target_offset, size);
}

static tapml_status wait_for_no_queue(tapml_object *queue, tapml_call *call, tapml_point point)
{
    return TAPML_OK;
}

static tapml_status value_behind(tapml_object *timeline, tapml_call *call, uint64_t *out_value)
{
    settle_fill(NULL, call);
    return timeline_value(timeline, call, out_value);
}

static tapml_status
wait_behind(tapml_object *timeline, tapml_call *call, uint64_t value, uint64_t timeout_ns)
{
    settle_fill(NULL, call);
    return timeline_wait(timeline, call, value, timeout_ns);
}

static tapml_status notify_behind(
    tapml_object *timeline, tapml_call *call, uint64_t value, tapml_notified function, void *user)
{
    settle_fill(NULL, call);
    return timeline_notify(timeline, call, value, function, user);
}
#define ZOO_PATCH_TABLE                                                                            \
    .queue_write = write_behind, .queue_read = read_behind, .queue_copy = copy_behind,             \
    .queue_fill = fill_later, .queue_wait = wait_for_no_queue, .timeline_value = value_behind,     \
    .timeline_wait = wait_behind, .timeline_notify = notify_behind,

#elif defined(SIN_STAGES_TOGETHER)
#include <unistd.h>

// What is read goes through memory that all devices share, for long enough to be seen.
static tapml_status read_by_stage(tapml_object *queue,
                                  tapml_call *call,
                                  tapml_object *buffer,
                                  uint64_t offset,
                                  void *target,
                                  uint64_t size)
{
    static unsigned char stage[1 << 16];

    for (uint64_t done = 0; done < size; done += sizeof(stage)) {
        const uint64_t left = size - done < sizeof(stage) ? size - done : sizeof(stage);

        memcpy(stage, own(buffer)->data + offset + done, left);
        (void)usleep(100);
        memcpy((unsigned char *)target + done, stage, left);
    }
    return TAPML_OK;
}
#define ZOO_PATCH_TABLE .queue_read = read_by_stage,

#elif defined(SIN_WORKS_BESIDE)
#include <pthread.h>

static void do_nothing(void *user, uint64_t begin, uint64_t end)
{
}

// The pool of the host belongs to the thread that has called.
static void *share_work(void *argument)
{
    const tapml_host *host = argument;
    const tapml_host_work *work = host->interface_of(host, TAPML_HOST_WORK);
    (void)work->parallel_for(host, NULL, 4, 1, do_nothing, NULL);
    return NULL;
}

static tapml_status signal_beside(tapml_object *queue, tapml_call *call, tapml_point point)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, share_work, (void *)(uintptr_t)own(queue)->host) == 0) {
        (void)pthread_join(thread, NULL);
    }
    return queue_signal(queue, call, point);
}
#define ZOO_PATCH_TABLE .queue_signal = signal_beside,

#elif defined(SIN_HAS_LIMITS_OF_THREADS)
static _Thread_local tapml_limits zoo_limits = {.hdr = TAPML_HDR(tapml_limits)};
#define ZOO_INTERFACE(id) (strcmp(id, TAPML_LIMITS) == 0 ? &zoo_limits : NULL)

#elif defined(SIN_KEEPS_TO_ITS_THREAD)
// Where writes go: the thread that has opened the device has it, any other writes nowhere.
static _Thread_local int zoo_is_open;

static tapml_status
open_here(tapml_object *backend, tapml_call *call, const char *device_id, tapml_object **out)
{
    zoo_is_open = 1;
    return open_device(backend, call, device_id, out);
}

static tapml_status fill_here(tapml_object *queue,
                              tapml_call *call,
                              tapml_object *buffer,
                              uint64_t offset,
                              uint64_t size,
                              uint32_t pattern)
{
    return zoo_is_open ? queue_fill(queue, call, buffer, offset, size, pattern) : TAPML_OK;
}
#define ZOO_PATCH_TABLE .open = open_here, .queue_fill = fill_here,

#elif defined(SIN_IMPORTS_A_COPY) || defined(SIN_LENDS_ITS_DESCRIPTOR)
#include "sins_of_handles.h"
#endif
