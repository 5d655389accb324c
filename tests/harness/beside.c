// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/beside.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "harness/late.h"

#include <string.h>

struct beside_write {
    struct backend_aside request;
    uint64_t mark; // The signal behind it; UINT64_MAX: none yet.
};

struct beside {
    struct backend_wrapper wrapper;
    struct backend_vt vt;
    int is_early;
    uint64_t count, marks;
    struct beside_write *writes; // That are not done.
    size_t write_count, capacity;
};

static struct beside *own(const struct backend *backend)
{
    return (struct beside *)(uintptr_t)backend;
}

static void write_now(const struct backend_aside *request)
{
    unsigned char *memory = (unsigned char *)(uintptr_t)late_bytes(request->buffer);
    memcpy(memory + request->offset, request->source, request->size);
}

static tapml_status add_write(struct beside *beside, const struct backend_aside *request)
{
    beside->count++;
    if (beside->is_early) {
        write_now(request);
        return TAPML_OK;
    }
    const int has_room = alloc_grow((void **)&beside->writes, &beside->capacity,
                                    beside->write_count, sizeof(*beside->writes));
    ASSERT(has_room);
    beside->writes[beside->write_count++] = (struct beside_write){*request, UINT64_MAX};
    return TAPML_OK;
}

static void signal(struct beside *beside, struct backend_point *out_point)
{
    beside->marks++;
    for (size_t i = 0; i < beside->write_count; i++) {
        if (beside->writes[i].mark == UINT64_MAX) {
            beside->writes[i].mark = beside->marks;
        }
    }
    *out_point = (struct backend_point){&beside->wrapper.backend, beside->marks};
}

// Puts the writes up to a mark into the queue, behind which they are seen.
static tapml_status join(struct beside *beside, uint64_t mark)
{
    size_t kept = 0;
    for (size_t i = 0; i < beside->write_count; i++) {
        const struct backend_aside *request = &beside->writes[i].request;
        if (beside->writes[i].mark > mark) {
            beside->writes[kept++] = beside->writes[i];
            continue;
        }
        TAPML_TRY(backend_write(beside->wrapper.inner, request->buffer, request->offset,
                                request->source, request->size));
    }
    beside->write_count = kept;
    return TAPML_OK;
}

static tapml_status beside_aside(struct backend *backend, struct backend_aside *io_aside)
{
    struct beside *beside = own(backend);
    switch (io_aside->kind) {
    case BACKEND_ASIDE_WRITE:
        return add_write(beside, io_aside);
    case BACKEND_ASIDE_FOLLOW:
        return beside->is_early ? backend_wait_for(beside->wrapper.inner, io_aside->point)
                                : TAPML_OK;
    case BACKEND_ASIDE_SIGNAL:
        signal(beside, &io_aside->point);
        return TAPML_OK;
    case BACKEND_ASIDE_JOIN:
        ASSERT(io_aside->point.owner == backend && io_aside->point.value <= beside->marks);
        return join(beside, io_aside->point.value);
    }
    return TAPML_OK;
}

static tapml_status beside_wait(struct backend *backend)
{
    struct beside *beside = own(backend);
    TAPML_TRY(backend_wait(beside->wrapper.inner));
    for (size_t i = 0; i < beside->write_count; i++) {
        write_now(&beside->writes[i].request);
    }
    beside->write_count = 0;
    return TAPML_OK;
}

static void beside_release(struct backend *backend)
{
    struct beside *beside = own(backend);
    alloc_free(beside->writes);
    backend_forget(backend);
    alloc_free(beside);
}

struct backend *beside_create(struct backend *inner, int is_early)
{
    struct beside *beside = alloc_new(sizeof(*beside));
    ASSERT(beside);
    beside->is_early = is_early;
    beside->vt = backend_forward_vt;
    beside->vt.release = beside_release;
    beside->vt.wait = beside_wait;
    beside->vt.aside = beside_aside;
    beside->wrapper = (struct backend_wrapper){.backend = {.vt = &beside->vt}, .inner = inner};
    return &beside->wrapper.backend;
}

uint64_t beside_writes(const struct backend *backend)
{
    return own(backend)->count;
}
