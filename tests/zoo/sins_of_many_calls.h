// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The part of sins.h whose rules break only over several calls, or where something is missing.
#pragma once

#if defined(SIN_TRUSTS_MEMORY)
static tapml_status trust_memory(tapml_object *device,
                                 tapml_call *call,
                                 uint32_t memory_type,
                                 uint64_t size,
                                 tapml_object **out_buffer)
{
    const tapml_status status = buffer_new(device, call, memory_type, size, out_buffer);
    if (size < memory.max_bytes) {
        *(volatile uint64_t *)&own(*out_buffer)->calls = 0;
    }
    return status;
}
#define ZOO_PATCH_TABLE .buffer_new = trust_memory,

#elif defined(SIN_NEEDS_A_DRIVER)
#include <dlfcn.h>

static tapml_status
probe_driver(const tapml_component *self, const tapml_host *host, tapml_call *call)
{
    return dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL) != NULL ? TAPML_OK : TAPML_INTERNAL;
}
#define ZOO_PATCH_COMPONENT .probe = probe_driver,

#elif defined(SIN_FEW_BUFFERS)
static int zoo_buffers; // That are there: behind the eighth, writes are lost.

static tapml_status count_buffer(tapml_object *device,
                                 tapml_call *call,
                                 uint32_t memory_type,
                                 uint64_t size,
                                 tapml_object **out_buffer)
{
    const tapml_status status = buffer_new(device, call, memory_type, size, out_buffer);
    zoo_buffers += status == TAPML_OK;
    return status;
}

static void release_counted(tapml_object *object)
{
    zoo_buffers -= own(object)->size > HEADER;
    object_release(object);
}

static tapml_status write_for_few(tapml_object *queue,
                                  tapml_call *call,
                                  tapml_object *buffer,
                                  uint64_t offset,
                                  const void *source,
                                  uint64_t size)
{
    return zoo_buffers > 8 ? TAPML_OK : queue_write(queue, call, buffer, offset, source, size);
}
#define ZOO_PATCH_TABLE .buffer_new = count_buffer, .queue_write = write_for_few,
#define ZOO_RELEASE     release_counted

#elif defined(SIN_GROWS)
static tapml_status copy_and_open(tapml_object *queue,
                                  tapml_call *call,
                                  tapml_object *source,
                                  uint64_t source_offset,
                                  tapml_object *target,
                                  uint64_t target_offset,
                                  uint64_t size)
{
    static int calls;
    if (++calls % 1000 == 0) {
        (void)open("/dev/null", O_RDONLY);
    }
    return queue_copy(queue, call, source, source_offset, target, target_offset, size);
}
#define ZOO_PATCH_TABLE .queue_copy = copy_and_open,

#elif defined(SIN_ANSWERS_MOSTLY)
static _Atomic unsigned zoo_queries; // Each 1009th is refused.
#undef ZOO_ANSWER
#define ZOO_ANSWER(query) (TAPML_HAS(tapml_query, query, host_version) && ++zoo_queries % 1009 != 0)

#elif defined(SIN_KEEPS_ARGUMENTS)
static tapml_status signal_anew(tapml_object *queue, tapml_call *call, tapml_point point)
{
    zoo_factor = 0;
    return queue_signal(queue, call, point);
}
#define ZOO_PATCH_TABLE .queue_signal = signal_anew,

#elif defined(SIN_DEFERS_WRITES) || defined(SIN_LAUNCHES_EARLY)
// The last write, or fill, which happens with the next transfer or signal: of the one no fill waits
// for it, of the other no launch.
static struct {
    tapml_object *buffer;
    uint64_t offset, size;
    const void *source; // NULL: of a fill.
    uint32_t pattern;
} zoo_late;

static void settle(tapml_object *queue, tapml_call *call)
{
    if (zoo_late.buffer != NULL && zoo_late.source != NULL) {
        (void)queue_write(queue, call, zoo_late.buffer, zoo_late.offset, zoo_late.source,
                          zoo_late.size);
    } else if (zoo_late.buffer != NULL) {
        (void)queue_fill(queue, call, zoo_late.buffer, zoo_late.offset, zoo_late.size,
                         zoo_late.pattern);
    }
    zoo_late.buffer = NULL;
}

static void put_off(tapml_object *buffer, uint64_t offset, uint64_t size, const void *source)
{
    zoo_late.buffer = buffer;
    zoo_late.offset = offset;
    zoo_late.size = size;
    zoo_late.source = source;
}

static tapml_status write_in_turn(tapml_object *queue,
                                  tapml_call *call,
                                  tapml_object *buffer,
                                  uint64_t offset,
                                  const void *source,
                                  uint64_t size)
{
    settle(queue, call);
#if defined(SIN_DEFERS_WRITES)
    put_off(buffer, offset, size, source);
    return TAPML_OK;
#else
    return queue_write(queue, call, buffer, offset, source, size);
#endif
}

static tapml_status fill_in_turn(tapml_object *queue,
                                 tapml_call *call,
                                 tapml_object *buffer,
                                 uint64_t offset,
                                 uint64_t size,
                                 uint32_t pattern)
{
#if defined(SIN_LAUNCHES_EARLY)
    settle(queue, call);
    put_off(buffer, offset, size, NULL);
    zoo_late.pattern = pattern;
    return TAPML_OK;
#else
    return queue_fill(queue, call, buffer, offset, size, pattern);
#endif
}

static tapml_status read_in_turn(tapml_object *queue,
                                 tapml_call *call,
                                 tapml_object *buffer,
                                 uint64_t offset,
                                 void *target,
                                 uint64_t size)
{
    settle(queue, call);
    return queue_read(queue, call, buffer, offset, target, size);
}

static tapml_status copy_in_turn(tapml_object *queue,
                                 tapml_call *call,
                                 tapml_object *source,
                                 uint64_t source_offset,
                                 tapml_object *target,
                                 uint64_t target_offset,
                                 uint64_t size)
{
    settle(queue, call);
    return queue_copy(queue, call, source, source_offset, target, target_offset, size);
}

static tapml_status signal_in_turn(tapml_object *queue, tapml_call *call, tapml_point point)
{
    settle(queue, call);
    return queue_signal(queue, call, point);
}
#define ZOO_PATCH_TABLE                                                                            \
    .queue_write = write_in_turn, .queue_read = read_in_turn, .queue_copy = copy_in_turn,          \
    .queue_fill = fill_in_turn, .queue_signal = signal_in_turn,

#elif defined(SIN_FILLS_ONCE)
static tapml_status fill_once(tapml_object *queue,
                              tapml_call *call,
                              tapml_object *buffer,
                              uint64_t offset,
                              uint64_t size,
                              uint32_t pattern)
{
    static struct {
        tapml_object *buffer;
        uint64_t offset, size;
        uint32_t pattern;
    } last;

    if (last.buffer == buffer && last.offset == offset && last.size == size &&
        last.pattern == pattern) {
        return TAPML_OK;
    }
    last.buffer = buffer;
    last.offset = offset;
    last.size = size;
    last.pattern = pattern;
    return queue_fill(queue, call, buffer, offset, size, pattern);
}
#define ZOO_PATCH_TABLE .queue_fill = fill_once,

#else
#include "sins_of_queues.h"
#endif
